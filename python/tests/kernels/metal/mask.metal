bool keep = m[id] && x[id] > 0.0f;
o[id] = keep ? x[id] : 0.0f;
kept[id] = keep;
