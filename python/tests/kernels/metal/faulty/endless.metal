float v = x[id];
while (v < 1e30f) {
  v = min(v, 1.0f);
}
o[id] = v;
