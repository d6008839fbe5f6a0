float load(device const float *p, uint i) {
  return p[i];
}
//---
o[id] = load(&x[0], id * 2);
