import { ERRORS, isErrorCode } from '../../../daemon/contract/errors.ts';
import type { PullRecord } from '../../../daemon/contract/pulls.ts';
import type { SlotRecord } from '../../../daemon/contract/slots.ts';
import type { StatusOverviewView, SystemHealthView } from '../../../daemon/contract/system.ts';
import type { UpstreamRecord } from '../../../daemon/contract/upstreams.ts';
import { isOutdated, type Reading } from '../../api/outdated.ts';
import type { Tone } from '../../ui/tone.ts';
import { slotBadge } from '../shared/slot-state.ts';
import { missingKey, upstreamBadge } from '../upstreams/upstream-badge.ts';

interface SettingsProblem {
  file: string;
  line: number | null;
  message: string;
}

export interface Issue {
  id: string;
  tone: Extract<Tone, 'attention' | 'failed'>;
  message: string;
  /** The view where it can be fixed. */
  href?: string;
}

const CHECK_TONES = { warning: 'attention', failed: 'failed' } as const;

function slotIssue(slot: SlotRecord): Issue | null {
  const id = `slot ${slot.name}`;
  const { tone } = slotBadge(slot);
  if (slot.enabled && slot.failure !== null) {
    const next = slot.failure.parked
      ? 'It failed repeatedly and won’t retry. Fix the cause, then load it under Slots.'
      : 'Retrying automatically.';
    const message = `Slot ${slot.name} failed: ${slot.failure.reason}. ${next}`;
    return { id, tone: 'failed', message, href: '/slots' };
  }
  if (tone !== 'attention') return null;
  if (slot.model_missing !== undefined && slot.degraded === null) {
    const message = `Slot ${slot.name}: the configured model ${slot.model_missing} is not installed.`;
    return { id, tone, message, href: '/slots' };
  }
  return { id, tone, message: `Slot ${slot.name} is degraded: ${slot.degraded}.`, href: '/slots' };
}

function upstreamIssues(upstream: UpstreamRecord): Issue[] {
  const { name, enabled, health, reason } = upstream;
  const { tone } = upstreamBadge(upstream);
  if (!enabled || (tone !== 'attention' && tone !== 'failed')) return [];
  const missing = missingKey(upstream);
  const why = missing === null ? (reason ?? `it is ${health.replace('_', ' ')}.`) : `${missing} is not set.`;
  const message = `Upstream ${name} isn’t responding correctly: ${why}`;
  return [{ id: `upstream ${name}`, tone: 'attention', message, href: '/slots/upstreams' }];
}

function pullIssues({ id, repo, state, error }: PullRecord): Issue[] {
  if (state !== 'failed' || error === null) return [];
  const advice = isErrorCode(error.code) ? ERRORS[error.code].advice : '';
  const message = `The download of ${repo} failed: ${error.message} ${advice}`.trim();
  return [{ id: `pull ${id}`, tone: 'attention', message, href: '/models' }];
}

/** Adds a full stop where a message lacks one. */
const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

function problemIssue(problem: SettingsProblem): Issue {
  const location = problem.line === null ? problem.file : `${problem.file}, line ${problem.line}`;
  const message = `${location}: ${sentence(problem.message)}`;
  return { id: 'configuration', tone: 'attention', message, href: '/settings' };
}

const isCoveredByCheck = (slot: SlotRecord): boolean =>
  slot.enabled && (slot.failure !== null || slot.model_missing !== undefined);

const VIEWS: Readonly<Record<string, string>> = {
  exposure: '/security',
  disk: '/models',
  slots: '/slots',
  upstreams: '/slots/upstreams',
  configuration: '/settings',
};
const withView = <C extends Issue>(issue: C): C => {
  const href = VIEWS[issue.id];
  return href === undefined ? issue : { ...issue, href };
};

/**
 * All open issues, failures first: slots, upstreams, downloads, checks, warnings. Each message appears once. A check is
 * left out when its detailed issues are listed.
 */
export function issuesOf(input: {
  slots?: readonly SlotRecord[] | undefined;
  checks?: SystemHealthView | undefined;
  status?: StatusOverviewView | undefined;
  problems?: readonly SettingsProblem[] | undefined;
  upstreams?: readonly UpstreamRecord[] | undefined;
  pulls?: readonly PullRecord[] | undefined;
}): Issue[] {
  const slots = (input.slots ?? []).flatMap((slot) => slotIssue(slot) ?? []);
  const problems = (input.problems ?? []).map(problemIssue);
  const upstreams = (input.upstreams ?? []).flatMap(upstreamIssues);
  const pulls = (input.pulls ?? []).flatMap(pullIssues);
  const covered = new Set([
    ...(upstreams.length > 0 ? ['upstreams'] : []),
    // The slots check reports failed slots and missing models.
    ...((input.slots ?? []).some(isCoveredByCheck) ? ['slots'] : []),
    ...(problems.length > 0 ? ['configuration'] : []),
  ]);
  const checks = Object.entries(input.checks?.checks ?? {}).flatMap(([name, check]) =>
    check.status === 'ok' ? [] : [{ id: name, tone: CHECK_TONES[check.status], message: check.message }],
  );
  const warnings = (input.status?.warnings ?? []).map(
    (warning): Issue => ({ id: warning.id, tone: 'attention', message: warning.message }),
  );
  const parts = [...checks, ...warnings].filter(({ id }) => !covered.has(id)).map(withView);
  const messages = new Set<string>();
  return [...slots, ...upstreams, ...pulls, ...problems, ...parts]
    .filter(({ message }) => !messages.has(message) && messages.add(message))
    .sort((a, b) => Number(b.tone === 'failed') - Number(a.tone === 'failed'));
}

/** How current the data is: complete (`now`), outdated (`old`) or still incomplete (`partial`). */
export type Freshness = 'now' | 'old' | 'partial';

/** How current these reads are together. One failed refresh makes the whole result `old`. */
export function freshnessOf(complete: boolean, reads: readonly Reading[]): Freshness {
  if (reads.some(isOutdated)) return 'old';
  return complete ? 'now' : 'partial';
}

function sentenceOf(issues: readonly Issue[]): { tone: Tone; sentence: string } {
  const failed = issues.filter((issue) => issue.tone === 'failed').length;
  const rest = issues.length - failed;
  const issueCount = (many: number): string => (many === 1 ? '1 issue' : `${many} issues`);
  if (failed > 0) return { tone: 'failed', sentence: issueCount(issues.length) };
  if (rest > 0) return { tone: 'attention', sentence: `Running, ${issueCount(rest)}` };
  return { tone: 'ok', sentence: 'Everything is fine' };
}

/** The health summary in a few words. Never reports "fine" before all parts have been read. */
export function healthSummary(issues: readonly Issue[], known: Freshness): { tone: Tone; sentence: string } {
  const summary = sentenceOf(issues);
  if (known === 'old')
    return { tone: 'idle', sentence: `Last known state: ${summary.sentence.toLowerCase()}` };
  if (known === 'partial' && issues.length === 0) return { tone: 'idle', sentence: 'Checking health' };
  return summary;
}
