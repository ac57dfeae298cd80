type Trial = (
  binary: string,
  backends: string | undefined,
  gpu: string | false,
  ...more: unknown[]
) => Promise<boolean>;

/** The library's own; the question mark keeps it from being replaced by this module. */
const OWN = './bindings/utils/testBindingBinary.js?own';

/** Stands where node-llama-cpp looks for its trial of a binary (`binary-trial`): only those for a card are tried. */
export const testBindingBinary: Trial = async (binary, backends, gpu, ...more) => {
  if (gpu === false) return true;
  const own = (await import(new URL(OWN, import.meta.resolve('node-llama-cpp')).href)) as {
    testBindingBinary: Trial;
  };
  return own.testBindingBinary(binary, backends, gpu, ...more);
};
