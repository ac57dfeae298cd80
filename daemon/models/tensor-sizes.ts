/** The header entry of one tensor. */
export interface TensorInfo {
  name?: string;
  dtype: number;
  shape: readonly bigint[];
  offset: bigint;
}

/** Numbers and bytes per block of ggml's storage types, by type id. */
const BLOCKS: Readonly<Record<number, readonly [numbers: number, bytes: number]>> = {
  0: [1, 4],
  1: [1, 2],
  2: [32, 18],
  3: [32, 20],
  6: [32, 22],
  7: [32, 24],
  8: [32, 34],
  9: [32, 36],
  10: [256, 84],
  11: [256, 110],
  12: [256, 144],
  13: [256, 176],
  14: [256, 210],
  15: [256, 292],
  16: [256, 66],
  17: [256, 74],
  18: [256, 98],
  19: [256, 50],
  20: [32, 18],
  21: [256, 110],
  22: [256, 82],
  23: [256, 136],
  24: [1, 1],
  25: [1, 2],
  26: [1, 4],
  27: [1, 8],
  28: [1, 8],
  29: [256, 56],
  30: [1, 2],
  34: [256, 54],
  35: [256, 66],
  39: [32, 17],
  40: [64, 36],
  41: [128, 18],
  42: [64, 18],
};

/** Returns whether the engine knows a storage type. */
export const isKnownType = (type: number): boolean => type in BLOCKS;

/** Returns the bytes of one tensor. 0 for an unknown storage type, so that newer files are accepted. */
export function tensorBytes({ dtype, shape }: TensorInfo): number {
  const block = BLOCKS[dtype];
  if (block === undefined) return 0;
  const numbers = shape.reduce((product, side) => product * Number(side), 1);
  return (numbers * block[1]) / block[0];
}

/** Returns the end of the last tensor's data in bytes from the start of the file, at least `dataOffset`. */
export function tensorDataEnd(tensors: readonly TensorInfo[], dataOffset: number): number {
  return tensors.reduce(
    (end, tensor) => Math.max(end, dataOffset + Number(tensor.offset) + tensorBytes(tensor)),
    dataOffset,
  );
}
