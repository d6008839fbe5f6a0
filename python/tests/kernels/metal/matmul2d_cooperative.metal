constexpr auto shape = matmul2d_descriptor(16, 8);
matmul2d<shape, execution_simdgroup> product;
auto left = a.slice(0, group.y * 16);
auto right = b.slice(group.x * 8, 0);
auto sums = product.get_destination_cooperative_tensor<decltype(left), decltype(right), float>();
product.run(left, right, sums);
for (uint16_t i = 0; i < sums.get_capacity(); ++i)
  if (sums.is_valid_element(i))
    sums[i] = max(sums[i], 0.0f);
auto to = o.slice(group.x * 8, group.y * 16);
sums.store(to);
