float v = x[id];
o[id] = sigmoid(v);
