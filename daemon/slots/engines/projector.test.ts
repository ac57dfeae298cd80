import { describe, expect, it } from 'vitest';
import { planOf } from '../testing/plans.ts';
import type { ContainerRunSpec, ProcessRunSpec } from './run-spec.ts';

const SEES = { projectorPath: '/m/mmproj-F16.gguf', projectorBytes: 800e6 };
const argsOf = (text: string, over = SEES as object) =>
  (planOf(`engine = "llama-server"\n${text}`, over).how as ProcessRunSpec).args;
const projectorArgs = (args: readonly string[]) =>
  args.flatMap((word, at) => (word === '--mmproj' ? args[at + 1] : []));

describe('the projector of a model', () => {
  it('is passed to llama-server with the model, and counts as weights', () => {
    expect(projectorArgs(argsOf(''))).toEqual(['/m/mmproj-F16.gguf']);
    expect(planOf('engine = "llama-server"', SEES).projectorBytes).toBe(800e6);
  });

  it.each([
    ['type = "embedding"', []],
    ['extra_args = ["--mmproj", "/own"]', ['/own']],
    ['extra_args = ["--no-mmproj"]', []],
    ['extra_args = ["--mmproj-url=http://h/x"]', []],
  ])('is not passed when the slot file overrides it: %s', (text, projectors) => {
    expect(projectorArgs(argsOf(text))).toEqual(projectors);
    expect(planOf(`engine = "llama-server"\n${text}`, SEES).projectorBytes).toBeUndefined();
  });

  it('is absent for a model without one', () => {
    expect(projectorArgs(argsOf('', {}))).toEqual([]);
    expect(planOf('engine = "llama-server"').projectorBytes).toBeUndefined();
  });

  it('is mounted read-only with the model, and passed by its path inside', () => {
    const how = planOf('engine = "llama-server"\nrunner = "container"', SEES).how as ContainerRunSpec;
    expect(projectorArgs(how.args)).toEqual(['/models/mmproj-F16.gguf']);
    expect(how.mounts).toContainEqual({
      source: '/m/mmproj-F16.gguf',
      target: '/models/mmproj-F16.gguf',
      readOnly: true,
    });
  });
});
