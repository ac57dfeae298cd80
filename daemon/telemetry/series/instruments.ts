import type { MetricFactory } from './metric-factory.ts';

const DURATIONS_S = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
const WAITS_S = [0.001, 0.01, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
const LOADS_S = [0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320, 640];
const SPEEDS = [1, 2, 5, 10, 20, 40, 80, 160, 320];

/**
 * Creates the metrics that are counted by slot or upstream. A series has the label of the serving one, never
 * both.
 */
export function instruments(make: MetricFactory) {
  return {
    requests: make.counter(
      'svc_requests_total',
      'Inference requests by route template, slot or upstream, and status. 499: the client disconnected.',
      ...(['route', 'slot', 'upstream', 'status'] as const),
    ),
    duration: make.histogram(
      'svc_request_duration_seconds',
      'Time from the arrival of a request to the last byte of its response.',
      DURATIONS_S,
      ...(['route', 'slot', 'upstream'] as const),
    ),
    firstToken: make.histogram(
      'svc_time_to_first_token_seconds',
      'Time from the arrival of a request to the first byte from the engine, including queueing and loading.',
      DURATIONS_S,
      ...(['route', 'slot', 'upstream'] as const),
    ),
    tokens: make.counter(
      'svc_tokens_total',
      'Tokens read (in) and generated (out), as reported by engines.',
      ...(['slot', 'upstream', 'direction'] as const),
    ),
    speed: make.histogram(
      'svc_tokens_per_second',
      'Generation speed of single responses.',
      SPEEDS,
      ...(['slot', 'upstream'] as const),
    ),
    wait: make.histogram(
      'svc_queue_wait_seconds',
      'Time that requests waited for a slot, including loading.',
      WAITS_S,
      'slot',
    ),
    loads: make.counter('svc_slot_loads_total', 'Slot loads by outcome.', ...(['slot', 'outcome'] as const)),
    loadTime: make.histogram('svc_slot_load_seconds', 'Duration of successful loads.', LOADS_S, 'slot'),
    crashes: make.counter('svc_slot_crashes_total', 'Engines that exited unexpectedly while ready.', 'slot'),
    evictions: make.counter(
      'svc_slot_evictions_total',
      'Unloads to make room for another slot, by unloaded slot.',
      'slot',
    ),
  };
}
export type Instruments = ReturnType<typeof instruments>;
