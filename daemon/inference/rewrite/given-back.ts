import type { Json } from '../dialects/json.ts';
import { originOfThoughts } from '../dialects/thought-origin.ts';
import type { BodyRule } from './body-rule.ts';
import { type Edit, remove, replace } from './edits.ts';

/**
 * What a model thought goes back to engines of the own network, and to the provider that said it, in the field in which it
 * said it: some refuse a chat without it, others one with it. No other provider gets it. A chat that came as one stays as
 * it was written.
 */
export const givenBack: BodyRule = ({ picture, local, upstream, history = [] }) => {
  if (local) return [];
  return history.flatMap((message, at): Edit[] => {
    const place = picture.messages[at];
    if (place === undefined || message.reasoning_content === undefined) return [];
    const made = withOwnThoughts(message, upstream ?? null);
    return [saysNothing(made) ? remove('messages', place) : replace(place.value, JSON.stringify(made))];
  });
};

function withOwnThoughts(message: Json, upstream: string | null): Json {
  const { reasoning_content: thoughts, ...rest } = message;
  const origin = originOfThoughts(message);
  return origin?.upstream === upstream ? { ...rest, [origin.field]: thoughts } : rest;
}

/** Nothing but thoughts was said, as by an answer that broke off: providers refuse what is left. */
const saysNothing = ({ role, ...said }: Json): boolean =>
  Object.values(said).every((value) => value === '' || value === null);
