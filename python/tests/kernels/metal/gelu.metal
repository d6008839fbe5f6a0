// 0.5 x (1 + tanh(√(2/π) (x + 0.044715 x³)))
TYPE gelu(TYPE v) {
  float f = float(v);
  float inner = 0.79788456f * (f + 0.044715f * f * f * f);
  return TYPE(0.5f * f * (1.0f + metal::precise::tanh(inner)));
}
//---
o[id] = gelu(x[id]);
