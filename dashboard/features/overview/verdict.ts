import { ERRORS, isErrorCode } from '../../../daemon/contract/errors.ts';
import type { PullRecord } from '../../../daemon/contract/pulls.ts';
import type { SlotRecord } from '../../../daemon/contract/slots.ts';
import type { StatusOverviewView, SystemHealthView } from '../../../daemon/contract/system.ts';
import type { UpstreamRecord } from '../../../daemon/contract/upstreams.ts';
import { isOutdated, type Reading } from '../../api/outdated.ts';
import type { Tone } from '../../ui/tone.ts';
import { slotLook } from '../shared/slot-state.ts';
import { missingKey, upstreamLook } from '../upstreams/upstream-looks.ts';

interface SettingsProblem {
  file: string;
  line: number | null;
  message: string;
}

export interface Concern {
  id: string;
  tone: Extract<Tone, 'attention' | 'failed'>;
  message: string;
  /** The view in which it is mended. */
  href?: string;
}

const CHECK_TONES = { warning: 'attention', failed: 'failed' } as const;

function ofSlot(slot: SlotRecord): Concern | null {
  const id = `slot ${slot.name}`;
  const { tone } = slotLook(slot);
  if (slot.enabled && slot.failure !== null) {
    const next = slot.failure.parked
      ? `It is parked and not tried again by itself: load it in the view Slots when the cause is gone.`
      : 'It is tried again by itself.';
    const message = `Slot ${slot.name} failed: ${slot.failure.reason}. ${next}`;
    return { id, tone: 'failed', message, href: '/slots' };
  }
  if (tone !== 'attention') return null;
  if (slot.model_missing !== undefined && slot.degraded === null) {
    const message = `Slot ${slot.name} names the model ${slot.model_missing}, which is not here.`;
    return { id, tone, message, href: '/slots' };
  }
  return { id, tone, message: `Slot ${slot.name} runs degraded: ${slot.degraded}.`, href: '/slots' };
}

function ofUpstream(upstream: UpstreamRecord): Concern[] {
  const { name, enabled, health, reason } = upstream;
  const { tone } = upstreamLook(upstream);
  if (!enabled || (tone !== 'attention' && tone !== 'failed')) return [];
  const missing = missingKey(upstream);
  const why =
    missing === null
      ? (reason ?? `it is ${health.replace('_', ' ')}.`)
      : `the variable ${missing} has no value.`;
  const message = `Upstream ${name} does not answer as it should: ${why}`;
  return [{ id: `upstream ${name}`, tone: 'attention', message, href: '/slots/upstreams' }];
}

function ofPull({ id, repo, state, error }: PullRecord): Concern[] {
  if (state !== 'failed' || error === null) return [];
  const advice = isErrorCode(error.code) ? ERRORS[error.code].advice : '';
  const message = `The download of ${repo} failed: ${error.message} ${advice}`.trim();
  return [{ id: `pull ${id}`, tone: 'attention', message, href: '/models' }];
}

/** Messages of files end with and without a full stop. */
const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

function ofProblem(problem: SettingsProblem): Concern {
  const place = problem.line === null ? problem.file : `${problem.file}, line ${problem.line}`;
  const message = `${place}: ${sentence(problem.message)}`;
  return { id: 'configuration', tone: 'attention', message, href: '/settings' };
}

const isToldByCheck = (slot: SlotRecord): boolean =>
  slot.enabled && (slot.failure !== null || slot.model_missing !== undefined);

const PLACES: Readonly<Record<string, string>> = {
  exposure: '/security',
  disk: '/models',
  slots: '/slots',
  upstreams: '/slots/upstreams',
  configuration: '/settings',
};
const placed = <C extends Concern>(concern: C): C => {
  const href = PLACES[concern.id];
  return href === undefined ? concern : { ...concern, href };
};

/**
 * All that needs attention, the worst first: failed slots, upstreams, downloads, failed checks, warnings; each sentence once.
 * What is told in detail is not told again as a check.
 */
export function concernsOf(given: {
  slots?: readonly SlotRecord[] | undefined;
  checks?: SystemHealthView | undefined;
  status?: StatusOverviewView | undefined;
  problems?: readonly SettingsProblem[] | undefined;
  upstreams?: readonly UpstreamRecord[] | undefined;
  pulls?: readonly PullRecord[] | undefined;
}): Concern[] {
  const slots = (given.slots ?? []).flatMap((slot) => ofSlot(slot) ?? []);
  const problems = (given.problems ?? []).map(ofProblem);
  const upstreams = (given.upstreams ?? []).flatMap(ofUpstream);
  const pulls = (given.pulls ?? []).flatMap(ofPull);
  const told = new Set([
    ...(upstreams.length > 0 ? ['upstreams'] : []),
    // The check of slots knows of failures and of models that are not there.
    ...((given.slots ?? []).some(isToldByCheck) ? ['slots'] : []),
    ...(problems.length > 0 ? ['configuration'] : []),
  ]);
  const checks = Object.entries(given.checks?.checks ?? {}).flatMap(([name, check]) =>
    check.status === 'ok' ? [] : [{ id: name, tone: CHECK_TONES[check.status], message: check.message }],
  );
  const warnings = (given.status?.warnings ?? []).map(
    (warning): Concern => ({ id: warning.id, tone: 'attention', message: warning.message }),
  );
  const parts = [...checks, ...warnings].filter(({ id }) => !told.has(id)).map(placed);
  const seen = new Set<string>();
  return [...slots, ...upstreams, ...pulls, ...problems, ...parts]
    .filter(({ message }) => !seen.has(message) && seen.add(message))
    .sort((a, b) => Number(b.tone === 'failed') - Number(a.tone === 'failed'));
}

/** How much is known: everything `now`, the last answers only (`old`), or not all parts yet (`partial`). */
export type Knowledge = 'now' | 'old' | 'partial';

/** What a verdict knows that rests on these reads: one that could not be read anew makes it as old as that one. */
export function knowledgeOf(complete: boolean, reads: readonly Reading[]): Knowledge {
  if (reads.some(isOutdated)) return 'old';
  return complete ? 'now' : 'partial';
}

function sentenceOf(concerns: readonly Concern[]): { tone: Tone; sentence: string } {
  const failed = concerns.filter((concern) => concern.tone === 'failed').length;
  const rest = concerns.length - failed;
  const things = (many: number): string => (many === 1 ? '1 thing needs' : `${many} things need`);
  if (failed > 0) return { tone: 'failed', sentence: `${things(concerns.length)} repair or attention` };
  if (rest > 0) return { tone: 'attention', sentence: `It runs; ${things(rest)} attention` };
  return { tone: 'ok', sentence: 'Everything is fine' };
}

/** The answer to "is it fine?" in a few words; it never says "fine" before all parts have answered. */
export function verdictOf(concerns: readonly Concern[], known: Knowledge): { tone: Tone; sentence: string } {
  const verdict = sentenceOf(concerns);
  if (known === 'old') return { tone: 'idle', sentence: `When last seen: ${verdict.sentence.toLowerCase()}` };
  if (known === 'partial' && concerns.length === 0) return { tone: 'idle', sentence: 'Looking at the parts' };
  return verdict;
}
