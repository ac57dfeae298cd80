import type { Address } from '../dispatch/model-ref.ts';
import { isNpu, type Picture, slotNamed } from '../dispatch/routing-view.ts';

/**
 * Deviation 3: `<tag>-<npu_suffix>` becomes the native tag (docs/spec/specification.md#deviation-npu-suffix,
 * docs/spec/contract.md#npu-suffix). The tag is looked up in the list of the NPU backend, ignoring case and
 * whether it is written with `:` or `-`. An unknown tag stays as it is.
 */
export function npuSuffix(address: Address, picture: Picture): Address {
  if (address.by !== null || address.model === null) return address;
  const ending = `-${picture.npuSuffix.toLowerCase()}`;
  const written = address.model.toLowerCase();
  if (!written.endsWith(ending)) return address;
  // It names what that slot holds, whatever it ends with.
  if (slotNamed(picture, address.model)?.model === address.model) return address;
  const wanted = folded(written.slice(0, -ending.length));
  const tag = npuTags(picture).find((each) => folded(each) === wanted);
  return tag === undefined ? address : { ...address, model: tag, by: 'npu-suffix' };
}

const folded = (tag: string): string => tag.toLowerCase().replaceAll(':', '-');

/** The tags of the NPU backend: models of its slots and models that the registry binds to them. */
function npuTags(picture: Picture): string[] {
  const own = picture.slots.filter(isNpu).flatMap((slot) => slot.model ?? []);
  const bound = picture.models.filter((model) => {
    const slot = slotNamed(picture, model.binding?.replace(/^slot:/, '') ?? null);
    return model.format === 'flm' || (slot !== undefined && isNpu(slot));
  });
  return [...own, ...bound.map((model) => model.id)];
}
