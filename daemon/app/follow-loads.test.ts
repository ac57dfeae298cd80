import { beforeEach, expect, it } from 'vitest';
import type { GatewayEvents } from '../contract/events.ts';
import { EventBus } from '../lib/async/event-bus.ts';
import type { SlotConfig } from '../slots/config/slot-config.ts';
import type { SlotEventKind, SlotEventListener } from '../slots/lifecycle/slot-events.ts';
import { followLoads } from './follow-loads.ts';

let agentModel: string | null;
let recorded: unknown[][];
let emit: (slot: string, kind: SlotEventKind) => void;
beforeEach(() => {
  agentModel = null;
  recorded = [];
  const listeners: SlotEventListener[] = [];
  followLoads(
    {
      onEvent: (listener) => {
        listeners.push(listener);
        return () => {};
      },
      config: (name) => (name === 'agent' ? ({ model: agentModel } as SlotConfig) : undefined),
    },
    { recordLoad: (...call) => void recorded.push(call), slotChanged: () => void recorded.push(['scan']) },
    new EventBus<GatewayEvents>(),
  );
  emit = (slot, kind) => {
    for (const listener of listeners) listener({ slot, model: 'small', kind, startedAt: 1, at: 2 });
  };
});

it.each<[string, string, SlotEventKind, string | null, unknown[][]]>([
  ['a load of agent by its automatic choice', 'agent', 'loaded', null, [['small', 'loaded', true]]],
  ['agent uses the engine of another slot', 'agent', 'joined', null, [['small', 'loaded', true]]],
  ['a load of agent by its file', 'agent', 'loaded', 'small', [['small', 'loaded', false]]],
  ['an engine that agent shares by its file', 'agent', 'joined', 'small', [['small', 'loaded', false]]],
  ['a load of another slot', 'primary', 'loaded', null, [['small', 'loaded', false]]],
  ['another slot uses the engine of agent', 'primary', 'joined', null, [['small', 'loaded', false]]],
  ['a failed load', 'agent', 'load_failed', null, [['small', 'failed', false]]],
  ['a crash', 'agent', 'crashed', null, []],
  ['an eviction', 'agent', 'evicted', null, []],
])('%s', (_, slot, kind, model, expected) => {
  agentModel = model;
  emit(slot, kind);
  expect(recorded).toEqual(expected);
});
