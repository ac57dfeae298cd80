import { ERRORS, isErrorCode } from '../../../daemon/contract/errors.ts';
import type { PullRecord } from '../../../daemon/contract/pulls.ts';
import type { SetupView } from '../../../daemon/contract/setup.ts';
import type { SlotPlanView, SlotRecord } from '../../../daemon/contract/slots.ts';
import type { MinuteRow, StatusOverviewView, SystemHealthView } from '../../../daemon/contract/system.ts';
import type { UpstreamRecord } from '../../../daemon/contract/upstreams.ts';
import { isOutdated, type Reading } from '../../api/outdated.ts';
import { count } from '../../ui/format.ts';
import type { Tone } from '../../ui/tone.ts';
import { forecastSentence } from '../shared/forecast.ts';
import { slotBadge } from '../shared/slot-state.ts';
import { missingKey, upstreamBadge } from '../upstreams/upstream-badge.ts';
import { hourSummary, recentFailures } from './minutes.ts';

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

/** Adds a full stop where a message lacks one. */
const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

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

/**
 * A slot that callers may expect to answer but that cannot be loaded: one with its own file, `agent`, or one that
 * waits for memory. Other automatic slots exist for every model file, whether it fits or not.
 */
function forecastIssue({ slot: name, model, forecast }: SlotPlanView, slots: readonly SlotRecord[]): Issue[] {
  const slot = slots.find((each) => each.name === name);
  const isExpected = slot !== undefined && (!slot.auto || name === 'agent' || slot.waiting_for.length > 0);
  if (forecast.outcome !== 'refused' || !isExpected || slot.failure !== null) return [];
  const raise = forecast.sum.limit === null ? '' : 'Raise slots.memory_limit, or choose';
  const next = `${raise || 'Choose'} a smaller model or context.`;
  const message = `Slot ${name} cannot load ${model}. ${forecastSentence(forecast).text} ${next}`;
  return [
    {
      id: `memory ${name}`,
      tone: 'failed',
      message,
      href: `/slots?slot=${encodeURIComponent(name)}&show=plan`,
    },
  ];
}

/** Share of failed requests from which they are an issue. */
const MAX_FAILED_SHARE = 0.1;

function trafficIssues(minutes: readonly MinuteRow[]): Issue[] {
  const { requests, failed } = recentFailures(minutes);
  if (failed === 0 || failed / requests < MAX_FAILED_SHARE) return [];
  const message =
    requests === 1
      ? 'The only request of the last 15 minutes failed.'
      : `${count(failed)} of ${count(requests)} requests failed in the last 15 minutes.`;
  return [{ id: 'requests', tone: 'attention', message, href: '/requests?only=failed' }];
}

/** Models that setup could not start, unless their slot has got another model or the download itself is an issue. */
function setupIssues(setup: SetupView, slots: readonly SlotRecord[]): Issue[] {
  return setup.work.flatMap(({ phase, slot, name, error, pull }) => {
    const isFilled = slots.some((each) => each.name === slot && each.model !== null && !each.demo);
    if (phase !== 'failed' || isFilled || pull?.state === 'failed') return [];
    const message = `Setup could not start ${name} in slot ${slot}: ${sentence(error?.message ?? 'unknown error')}`;
    return [{ id: `setup ${slot}`, tone: 'attention', message, href: '/setup' }];
  });
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
 * All open issues, failures first: slots, loads that cannot succeed, failing requests, upstreams, downloads, setup,
 * checks, warnings. Each message appears once. A check is
 * left out when its detailed issues are listed.
 */
export function issuesOf(input: {
  slots?: readonly SlotRecord[] | undefined;
  checks?: SystemHealthView | undefined;
  status?: StatusOverviewView | undefined;
  problems?: readonly SettingsProblem[] | undefined;
  upstreams?: readonly UpstreamRecord[] | undefined;
  pulls?: readonly PullRecord[] | undefined;
  plans?: readonly SlotPlanView[] | undefined;
  minutes?: readonly MinuteRow[] | undefined;
  setup?: SetupView | undefined;
}): Issue[] {
  const slots = (input.slots ?? []).flatMap((slot) => slotIssue(slot) ?? []);
  const problems = (input.problems ?? []).map(problemIssue);
  const upstreams = (input.upstreams ?? []).flatMap(upstreamIssues);
  const pulls = (input.pulls ?? []).flatMap(pullIssues);
  const plans = (input.plans ?? []).flatMap((plan) => forecastIssue(plan, input.slots ?? []));
  const setup = input.setup === undefined ? [] : setupIssues(input.setup, input.slots ?? []);
  const traffic = trafficIssues(input.minutes ?? []);
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
  return [...slots, ...plans, ...traffic, ...upstreams, ...pulls, ...setup, ...problems, ...parts]
    .filter(({ message }) => !messages.has(message) && messages.add(message))
    .sort((a, b) => Number(b.tone === 'failed') - Number(a.tone === 'failed'));
}

/** What is known about the requests of the last hour; null while it is not read. */
export function trafficSentence(minutes: readonly MinuteRow[] | undefined): string | null {
  if (minutes === undefined) return null;
  const { requests, failed } = hourSummary(minutes);
  if (requests === 0) return 'no requests in the last hour';
  if (failed === 0) return 'no request failed in the last hour';
  return `${count(failed)} of ${count(requests)} requests failed in the last hour`;
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
