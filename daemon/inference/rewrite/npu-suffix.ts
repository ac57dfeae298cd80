import type { ModelRef } from '../dispatch/model-ref.ts';
import { isNpu, type RoutingView, slotNamed } from '../dispatch/routing-view.ts';

/**
 * Deviation 3: `<tag>-<npu_suffix>` becomes the native tag (docs/spec/specification.md#deviation-npu-suffix,
 * docs/spec/contract.md#npu-suffix). The tag is looked up in the list of the NPU backend, ignoring case and
 * whether it is written with `:` or `-`. An unknown tag stays as it is.
 */
export function npuSuffix(address: ModelRef, view: RoutingView): ModelRef {
  if (address.by !== null || address.model === null) return address;
  const ending = `-${view.npuSuffix.toLowerCase()}`;
  const written = address.model.toLowerCase();
  if (!written.endsWith(ending)) return address;
  // The name is the model id of that slot, whatever it ends with.
  if (slotNamed(view, address.model)?.model === address.model) return address;
  const wanted = normalised(written.slice(0, -ending.length));
  const tag = npuTags(view).find((each) => normalised(each) === wanted);
  return tag === undefined ? address : { ...address, model: tag, by: 'npu-suffix' };
}

const normalised = (tag: string): string => tag.toLowerCase().replaceAll(':', '-');

/** Returns the tags of the NPU backend: models of its slots and models that the registry binds to them. */
function npuTags(view: RoutingView): string[] {
  const own = view.slots.filter(isNpu).flatMap((slot) => slot.model ?? []);
  const bound = view.models.filter((model) => {
    const slot = slotNamed(view, model.binding?.replace(/^slot:/, '') ?? null);
    return model.format === 'flm' || (slot !== undefined && isNpu(slot));
  });
  return [...own, ...bound.map((model) => model.id)];
}
