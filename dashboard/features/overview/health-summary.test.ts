import { describe, expect, it } from 'vitest';
import type { SetupView } from '../../../daemon/contract/setup.ts';
import type { SlotPlanView, SlotRecord } from '../../../daemon/contract/slots.ts';
import type { MinuteRow } from '../../../daemon/contract/system.ts';
import { slotRecord } from '../../../daemon/contract/testing/slot-record.ts';
import { slotBadge, slotModel } from '../shared/slot-state.ts';
import { freshnessOf, healthSummary, issuesOf, trafficSentence } from './health-summary.ts';

const slot = (over: Partial<SlotRecord> = {}): SlotRecord => slotRecord({ name: 'agent', ...over });
const failure = { reason: 'no such file', failures: 5, parked: true, retry_at: null };

describe('slotBadge', () => {
  it.each([
    [slot(), 'ok', 'Ready'],
    [slot({ state: 'warming' }), 'busy', 'Warming up'],
    [slot({ state: 'error', failure }), 'failed', 'Parked'],
    [slot({ state: 'error', failure: { ...failure, parked: false } }), 'failed', 'Failed'],
    [slot({ degraded: 'on the CPU' }), 'attention', 'Ready, degraded'],
    [slot({ enabled: false, state: 'error', failure }), 'idle', 'Disabled'],
    [slot({ state: 'offline', model: null, model_missing: 'gone' }), 'attention', 'Model not found'],
  ])('%#', (slot, tone, word) => expect(slotBadge(slot)).toEqual({ tone, word }));
});

it.each([
  [slot(), 'agent-model'],
  [slot({ demo: true }), 'agent-model (demo)'],
  [slot({ model: null }), 'No model'],
  [slot({ model: null, model_missing: 'gone' }), 'gone (not found)'],
])('labels the model of a slot %#', (slot, word) => expect(slotModel(slot)).toBe(word));

describe('the summary', () => {
  it('is fine when nothing is known to be wrong', () => {
    expect(healthSummary(issuesOf({ slots: [slot()] }), 'now')).toMatchObject({ tone: 'ok' });
  });

  it('lists failures first and each message once', () => {
    const issues = issuesOf({
      slots: [slot({ state: 'error', failure })],
      checks: { status: 'degraded', checks: { exposure: { status: 'warning', message: 'open' } } },
      status: { warnings: [{ id: 'open', message: 'open' }] } as never,
    });
    expect(issues.map((row) => row.tone)).toEqual(['failed', 'attention']);
    expect(issues[0]?.message).toContain('failed repeatedly');
    expect(healthSummary(issues, 'now')).toEqual({
      tone: 'failed',
      sentence: '2 issues',
    });
  });

  it('never reports fine before all parts are read, and marks old data', () => {
    expect(healthSummary([], 'partial')).toEqual({ tone: 'idle', sentence: 'Checking health' });
    expect(healthSummary([], 'old')).toEqual({
      tone: 'idle',
      sentence: 'Last known state: everything is fine',
    });
    const issues = issuesOf({ slots: [slot({ state: 'error', failure })] });
    expect(healthSummary(issues, 'partial')).toMatchObject({ tone: 'failed' });
  });

  it('is old when one part could not be refreshed', () => {
    const read = { data: {}, isError: false, error: null };
    const failed = { ...read, isError: true, error: new Error('no') };
    expect(freshnessOf(true, [read, read])).toBe('now');
    expect(freshnessOf(false, [read])).toBe('partial');
    expect(freshnessOf(true, [read, failed])).toBe('old');
    expect(freshnessOf(true, [read, { ...failed, data: undefined }])).toBe('now');
  });

  it('leaves out a check whose issues are listed in detail', () => {
    const checks = {
      status: 'degraded' as const,
      checks: {
        slots: { status: 'warning' as const, message: 'Failed: agent.' },
        configuration: { status: 'warning' as const, message: '1 problem.' },
      },
    };
    expect(issuesOf({ checks }).map((row) => row.id)).toEqual(['slots', 'configuration']);
    const problems = [{ file: 'config.toml', line: 3, message: 'unknown key serverr' }];
    const issues = issuesOf({ checks, problems, slots: [slot({ state: 'error', failure })] });
    expect(issues.map((row) => row.id)).toEqual(['slot agent', 'configuration']);
    expect(issues[1]?.message).toBe('config.toml, line 3: unknown key serverr.');
  });

  it('names the variable of an upstream whose key is missing', () => {
    const upstream = { name: 'desk', enabled: true, health: 'unknown', reason: null };
    const keyed = { ...upstream, key_env: 'UPSTREAM_DESK_KEY', key_set: false };
    expect(issuesOf({ upstreams: [upstream] as never })).toEqual([]);
    expect(issuesOf({ upstreams: [keyed] as never })[0]?.message).toContain('UPSTREAM_DESK_KEY is not set.');
  });

  it('names a broken upstream, a failed download and a full disk, each with its view', () => {
    const upstream = { name: 'desk', enabled: true, health: 'down', reason: 'Nothing listens there.' };
    const pull = {
      id: 'p',
      repo: 'o/n',
      state: 'failed',
      error: { code: 'pull.no_space', message: 'Full.' },
    };
    const checks = {
      status: 'degraded' as const,
      checks: {
        upstreams: { status: 'warning' as const, message: 'Not well: desk (down).' },
        disk: { status: 'warning' as const, message: '3 MiB left.' },
      },
    };
    const issues = issuesOf({
      checks,
      upstreams: [upstream, { ...upstream, enabled: false }, { ...upstream, health: 'busy' }] as never,
      pulls: [pull, { ...pull, state: 'paused' }] as never,
    });
    expect(issues.map(({ id, href }) => [id, href])).toEqual([
      ['upstream desk', '/slots/upstreams'],
      ['pull p', '/models'],
      ['disk', '/models'],
    ]);
    expect(issues[0]?.message).toContain('Nothing listens there.');
    expect(issues[1]?.message).toBe(
      'The download of o/n failed: Full. Remove models that you do not need, then resume the download.',
    );
  });

  it('names a slot whose model is missing once, with a link', () => {
    const checks = {
      status: 'degraded' as const,
      checks: { slots: { status: 'warning' as const, message: 'The model … was not found: agent.' } },
    };
    const hollow = slot({ state: 'offline', model: null, model_missing: 'gone' });
    expect(issuesOf({ checks, slots: [hollow] })).toEqual([
      {
        id: 'slot agent',
        tone: 'attention',
        message: 'Slot agent: the configured model gone is not installed.',
        href: '/slots',
      },
    ]);
    expect(issuesOf({ checks })[0]?.href).toBe('/slots');
  });

  it('ignores a disabled slot', () => {
    expect(issuesOf({ slots: [slot({ enabled: false, state: 'error', failure })] })).toEqual([]);
  });
});

describe('a load that cannot succeed', () => {
  const plan = (over: Partial<SlotPlanView['forecast']> = {}): SlotPlanView =>
    ({
      slot: 'agent',
      model: 'big',
      forecast: { outcome: 'refused', evicts: [], sum: { short: 13 * 1024 ** 2, limit: 1 }, ...over },
    }) as unknown as SlotPlanView;
  const offline = slot({ state: 'offline', auto: true });

  it.each([
    ['agent', offline],
    ['a slot with a file', slot({ name: 'own', state: 'offline' })],
    [
      'a slot that waits for memory',
      slot({ name: 'other', state: 'offline', auto: true, waiting_for: ['agent'] }),
    ],
  ])('is a failure of %s', (_, row) => {
    const [issue, ...rest] = issuesOf({ slots: [row], plans: [{ ...plan(), slot: row.name }] });
    expect(rest).toEqual([]);
    expect(issue?.tone).toBe('failed');
    expect(issue?.message).toMatch(
      /^Slot \w+ cannot load big\. Not enough memory.* short\. Raise slots\.memory_limit/,
    );
    expect(healthSummary([issue as never], 'now')).toEqual({ tone: 'failed', sentence: '1 issue' });
  });

  it('is no issue of an automatic slot, which exists for each model file, nor when the load fits', () => {
    const other = slot({ name: 'other', state: 'offline', auto: true });
    expect(issuesOf({ slots: [other], plans: [{ ...plan(), slot: 'other' }] })).toEqual([]);
    for (const outcome of ['starts', 'evicts', 'waits'] as const)
      expect(issuesOf({ slots: [offline], plans: [plan({ outcome })] })).toEqual([]);
  });

  it('does not name a limit that is not set', () => {
    const sum = { short: 0, limit: null } as never;
    expect(issuesOf({ slots: [offline], plans: [plan({ sum })] })[0]?.message).toMatch(
      /Choose a smaller model/,
    );
  });
});

describe('failing requests', () => {
  const minutes = (requests: number, failed: number, refused = 0): MinuteRow[] => [
    { at: 0, requests, failed, refused, completion_tokens: 0, ttft_ms: null },
  ];

  it.each([
    [40, 12, '12 of 40 requests failed in the last 15 minutes.'],
    [1, 1, 'The only request of the last 15 minutes failed.'],
    [40, 3, null],
    [40, 0, null],
    [0, 0, null],
  ])('%d requests with %d failures', (requests, failed, message) => {
    expect(issuesOf({ minutes: minutes(requests, failed) })[0]?.message ?? null).toBe(message);
  });

  it('are those of the last 15 minutes', () => {
    const quiet = Array.from({ length: 15 }, () => minutes(1, 0)).flat();
    expect(issuesOf({ minutes: [...minutes(40, 40), ...quiet] })).toEqual([]);
  });

  it('are named in the summary of the hour, refused ones are not failures', () => {
    expect(trafficSentence(undefined)).toBeNull();
    expect(trafficSentence(minutes(0, 0))).toBe('no requests in the last hour');
    expect(trafficSentence(minutes(9, 0, 4))).toBe('no request failed in the last hour');
    expect(trafficSentence(minutes(9, 2))).toBe('2 of 9 requests failed in the last hour');
  });
});

describe('models that setup could not start', () => {
  const error = { code: 'x', message: 'The hub does not have this file' };
  const setup = (phase: string, pull: object | null = null): SetupView =>
    ({ work: [{ slot: 'agent', model: 'm', name: 'Qwen3', phase, pull, error }] }) as unknown as SetupView;

  it('are issues until their slot has a model', () => {
    const expected = 'Setup could not start Qwen3 in slot agent: The hub does not have this file.';
    expect(issuesOf({ setup: setup('failed') }).map(({ message }) => message)).toEqual([expected]);
    expect(issuesOf({ setup: setup('failed'), slots: [slot({ demo: true })] })).toHaveLength(1);
    expect(issuesOf({ setup: setup('failed'), slots: [slot()] })).toEqual([]);
    expect(issuesOf({ setup: setup('failed', { state: 'failed' }) })).toEqual([]);
    expect(issuesOf({ setup: setup('ready') })).toEqual([]);
  });
});
