import { aliasedSlot } from './names.ts';
import { pathRow } from './paths.ts';
import { type DispatchRequest, pass, type Resolver, toSlot } from './resolver.ts';

/**
 * Name hints in order (docs/spec/specification.md#dispatch-step-5): a part of the model name, and the slot
 * that it maps to.
 */
const NAME_HINTS: readonly (readonly [string, string])[] = [
  ['embed', 'embed'],
  ['rerank', 'rerank'],
];
const IMAGE_PREFIXES = ['sdxl', 'sd-1.5', 'sd15', 'flux'];

interface Guess {
  readonly slot: string;
  readonly why: string;
}
type Rule = (request: DispatchRequest) => Guess | null;

const byPath: Rule = ({ path }) => {
  const { slot } = pathRow(path);
  return slot === null ? null : { slot, why: `the endpoint uses slot ${slot} by default` };
};

const byNameHint: Rule = ({ modelRef }) => {
  const name = modelRef.model?.toLowerCase() ?? '';
  const hint = NAME_HINTS.find(([part]) => name.includes(part));
  return hint ? { slot: hint[1], why: `the name contains "${hint[0]}"` } : null;
};

const byImagePrefix: Rule = ({ modelRef }) => {
  const name = modelRef.model?.toLowerCase() ?? '';
  const prefix = IMAGE_PREFIXES.find((each) => name.startsWith(each));
  return prefix ? { slot: 'img', why: `the name starts with "${prefix}"` } : null;
};

const byAlias: Rule = ({ modelRef }) =>
  modelRef.model === null ? null : { slot: modelRef.model, why: `${modelRef.model} is the name of a slot` };

/** The order of the rules of docs/spec/specification.md#dispatch-step-5. */
const RULES: readonly Rule[] = [byPath, byNameHint, byImagePrefix, byAlias];

/** Step 5: capability and path routing, the last resort (docs/spec/specification.md#dispatch-step-5). */
export const capabilityPath: Resolver = (request, view) => {
  if (request.modelRef.lane !== null) return pass('the request names a slot');
  for (const rule of RULES) {
    const guess = rule(request);
    const slot = guess && aliasedSlot(guess.slot, view);
    if (guess && slot) return toSlot(slot, guess.why);
  }
  return pass('no default slot for this endpoint');
};
