import type { DevicePatch } from './device-facts.ts';
import type { Tree } from './kernel-tree.ts';

/** Sensors that represent the whole device, best first. */
const LABELS = ['edge', 'pkg'];

async function temperature(tree: Tree, folder: string, names: readonly string[]): Promise<number | null> {
  const inputs = names.filter((name) => /^temp\d+_input$/.test(name));
  const labelled = await Promise.all(
    inputs.map(async (name) => ({
      name,
      label: await tree.text(`${folder}/${name.replace('_input', '_label')}`),
    })),
  );
  const rank = (label: string | null) => (label === null ? LABELS.length : LABELS.indexOf(label));
  const [best] = labelled.filter((one) => rank(one.label) >= 0).sort((a, b) => rank(a.label) - rank(b.label));
  const milli = best === undefined ? null : await tree.number(`${folder}/${best.name}`);
  return milli === null ? null : milli / 1000;
}

/** Reads power in watts and temperature in degrees Celsius from the device's hwmon folder, if present. */
export async function readHwmon(tree: Tree, deviceFolder: string): Promise<DevicePatch> {
  const [name] = await tree.names(`${deviceFolder}/hwmon`);
  if (name === undefined) return {};
  const folder = `${deviceFolder}/hwmon/${name}`;
  const names = await tree.names(folder);
  const micro =
    (await tree.number(`${folder}/power1_average`)) ?? (await tree.number(`${folder}/power1_input`));
  return {
    powerW: micro === null ? null : micro / 1e6,
    temperatureC: await temperature(tree, folder, names),
  };
}
