import { GatewayError } from '../../contract/errors.ts';
import { SCORE_SIDES, ScoreBody } from '../../contract/score.ts';
import { invalidField, readBody } from '../dialects/read-body.ts';
import type { RerankRequest } from './rerank-request.ts';

/** A parsed score request. */
export interface ScoreRequest {
  /** The names that the caller used for both sides. */
  readonly names: readonly [string, string];
  readonly sides: readonly [unknown, unknown];
  /** Every other field except `model`. */
  readonly others: Readonly<Record<string, unknown>>;
}

/**
 * Parses a score request (docs/spec/contract.md#score). Throws `request.invalid` (422) with the field at fault: a
 * missing side, or two lists of different lengths.
 */
export function parseScoreRequest(body: Buffer): ScoreRequest {
  const fields = readBody(ScoreBody, body);
  const names = SCORE_SIDES.find(([first, second]) => hasSide(fields[first]) && hasSide(fields[second]));
  if (names === undefined) throw missingSide(fields);
  const sides = [fields[names[0]], fields[names[1]]] as const;
  const [first, second] = sides.map(lengthOf) as [number, number];
  if (first > 1 && first !== second)
    throw invalidField(names[1], `must have as many texts as ${names[0]}, which has ${first}`);
  const { model: _, [names[0]]: _1, [names[1]]: _2, ...others } = fields;
  return { names, sides, others };
}

const hasSide = (side: unknown): boolean => side !== undefined && side !== null;

const lengthOf = (side: unknown): number => (Array.isArray(side) ? side.length : 1);

function missingSide(fields: Readonly<Record<string, unknown>>): GatewayError {
  const known = SCORE_SIDES.find((names) => names.some((name) => hasSide(fields[name]))) ?? SCORE_SIDES[0];
  const missing = known.find((name) => !hasSide(fields[name])) as string;
  return invalidField(missing, 'is missing');
}

/**
 * Returns the rerank request with the same scores: one text against several. Throws 409
 * `dispatch.capability_mismatch` for pairs and for content that is no text. `target` names the server.
 */
export function rerankOfScore({ names, sides, others }: ScoreRequest, target: string): RerankRequest {
  const [first, second] = sides.map((side) => (Array.isArray(side) ? side : [side])) as [
    unknown[],
    unknown[],
  ];
  const [query] = first;
  const isText = typeof query === 'string' && second.every((each) => typeof each === 'string');
  if (first.length !== 1 || !isText)
    throw new GatewayError('dispatch.capability_mismatch', {
      message: `${target} has no /v1/score. Its rerank route scores one text against several: send ${names[0]} as one text and ${names[1]} as texts.`,
      param: names[0],
    });
  return { query, documents: second as string[], topN: second.length, returnDocuments: false, others };
}
