// One simdgroup for each query, causal, with a running maximum.
float largest = -numeric_limits<float>::infinity(), sum = 0, value = 0;
float query = q[lane, row] * 0.17677669f;
for (uint key = 0; key <= row; ++key) {
  float score = simd_sum(query * k[lane, key]);
  float next = max(largest, score);
  float old = exp(largest - next), now = exp(score - next);
  sum = sum * old + now;
  value = value * old + now * v[lane, key];
  largest = next;
}
o[lane, row] = value / sum;
