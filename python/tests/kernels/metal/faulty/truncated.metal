int whole = x[id];
o[id] = whole;
