type Trial = (
  binary: string,
  backends: string | undefined,
  gpu: string | false,
  ...more: unknown[]
) => Promise<boolean>;

/** The original module of the library. The query string keeps this module from replacing it. */
const OWN = './bindings/utils/testBindingBinary.js?own';

/** Replaces the binary trial of node-llama-cpp (see `binary-probe`): only GPU binaries are tried. */
export const testBindingBinary: Trial = async (binary, backends, gpu, ...more) => {
  if (gpu === false) return true;
  const own = (await import(new URL(OWN, import.meta.resolve('node-llama-cpp')).href)) as {
    testBindingBinary: Trial;
  };
  return own.testBindingBinary(binary, backends, gpu, ...more);
};
