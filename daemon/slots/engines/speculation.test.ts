import { describe, expect, it } from 'vitest';
import { planOf } from '../testing/plans.ts';
import type { ContainerRunSpec, ProcessRunSpec, WorkerRunSpec } from './run-spec.ts';

const DRAFT = { draft: { path: '/m/mtp-small.gguf', sizeBytes: 300e6 } };
const serverArgs = (keys: string, over = {}) => {
  const { args } = planOf(`engine = "llama-server"\n${keys}`, over).how as ProcessRunSpec;
  return args.filter((_, at) => args.slice(0, at + 1).some((word) => word.startsWith('--spec')));
};

describe('speculation', () => {
  it.each([
    ['', []],
    ['speculation = "ngram"', ['--spec-type', 'ngram-simple']],
    [
      'speculation = "ngram"\ndraft_tokens = 8',
      ['--spec-type', 'ngram-simple', '--spec-ngram-simple-size-m', '8'],
    ],
    ['speculation = "mtp"', ['--spec-type', 'draft-mtp']],
    ['speculation = "mtp"\ndraft_tokens = 2', ['--spec-type', 'draft-mtp', '--spec-draft-n-max', '2']],
  ])('of llama-server with %j', (keys, args) => {
    expect(serverArgs(keys)).toEqual(args);
  });

  it('of llama-server loads the draft model, which counts with its windows', () => {
    const keys = 'speculation = "draft"\ndraft_model = "mtp-small"';
    expect(serverArgs(keys, DRAFT)).toEqual([
      ...['--spec-type', 'draft-simple'],
      ...['--spec-draft-model', '/m/mtp-small.gguf'],
    ]);
    expect(planOf(`engine = "llama-server"\n${keys}`, DRAFT)).toMatchObject({
      draftBytes: 300e6,
      degraded: null,
    });
  });

  it('mounts the draft model in a container', () => {
    const keys = 'runner = "container"\nspeculation = "mtp"\ndraft_model = "mtp-small"';
    const how = planOf(`engine = "llama-server"\n${keys}`, DRAFT).how as ContainerRunSpec;
    expect(how.args).toContain('/models/mtp-small.gguf');
    expect(how.mounts.map(({ source }) => source)).toContain('/m/mtp-small.gguf');
  });

  it('is left out, and the slot says so, without its draft model', () => {
    const keys = 'speculation = "mtp"\ndraft_model = "absent"';
    expect(serverArgs(keys)).toEqual([]);
    const launch = planOf(`engine = "llama-server"\n${keys}`);
    expect(launch.draftTokens).toBeUndefined();
    expect(launch.degraded).toMatch(/draft model absent was not found/);
  });

  const FASTER = { repeats: { off: 10, ngram: 15 }, plain: { off: 10, ngram: 10 } };
  const SAME = { repeats: { off: 10, ngram: 10 }, plain: { off: 10, ngram: 10 } };
  it.each([
    ['', FASTER, 4, 'ngram', /^Faster: svcctl bench measured 1.50 times/],
    ['speculation = "auto"', FASTER, 4, 'ngram', /^Faster/],
    ['', SAME, 0, 'off', /^Not faster: svcctl bench measured 1.00 times/],
    ['', null, 0, 'off', /^Not measured. svcctl bench small/],
    ['speculation = "off"', FASTER, 0, 'off', /slot file sets/],
    ['speculation = "ngram"', SAME, 4, 'ngram', /slot file sets/],
  ])('of the embedded engine with %j and %j', (keys, ngram, tokens, way, reason) => {
    const launch = planOf(keys, { ngram });
    expect((launch.how as Extract<WorkerRunSpec, { program: 'llama' }>).settings.ngramTokens).toBe(tokens);
    expect(launch.speculation).toEqual({ way, reason: expect.stringMatching(reason) });
  });

  it.each([
    ['engine = "llama-server"', { way: 'off', reason: expect.stringMatching(/default of llama-server/) }],
    [
      'engine = "llama-server"\nspeculation = "mtp"',
      { way: 'mtp', reason: expect.stringMatching(/slot file/) },
    ],
    ['type = "embedding"', undefined],
  ])('of %j is explained', (file, expected) => {
    expect(planOf(file, { ngram: FASTER }).speculation).toEqual(expected);
  });

  it.each([
    ['', 0],
    ['speculation = "ngram"', 4],
    ['speculation = "ngram"\ndraft_tokens = 2', 2],
  ])('of the embedded engine with %j predicts %d tokens', (keys, tokens) => {
    const { settings } = planOf(keys).how as Extract<WorkerRunSpec, { program: 'llama' }>;
    expect(settings.ngramTokens).toBe(tokens);
  });

  it('of layers of the model itself predicts three tokens', () => {
    expect(planOf('engine = "llama-server"\nspeculation = "mtp"').draftTokens).toBe(3);
  });
});
