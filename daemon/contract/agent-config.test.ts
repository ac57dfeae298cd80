import { parse } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { AGENTS, type AgentName } from './agent-config.ts';

const facts = { base: 'http://lab:8080', model: 'agent', window: 65_536 };
const NAMES = Object.keys(AGENTS) as AgentName[];

describe.each(NAMES)('%s', (name) => {
  test('gets the window, the model and the address', () => {
    const text = AGENTS[name].write(facts);
    expect(text).toContain('65536');
    expect(text).toContain('agent');
    if (name !== 'aider') expect(text).toContain('http://lab:8080');
  });

  test('has no number of tokens when the window is unknown', () => {
    const text = AGENTS[name].write({ ...facts, window: null });
    expect(text).not.toMatch(/65536|null|NaN|undefined/);
    expect(text).toContain('agent');
  });
});

test('Codex gets valid TOML', () => {
  expect(parse(AGENTS.codex.write(facts))).toMatchObject({
    model: 'agent',
    model_context_window: 65_536,
    model_auto_compact_token_limit: 52_428,
    model_providers: { svc: { base_url: 'http://lab:8080/v1', wire_api: 'responses' } },
  });
});

test.each(['opencode', 'qwen-code', 'pi', 'aider'] as const)('%s gets valid JSON', (name) => {
  expect(() => JSON.parse(AGENTS[name].write(facts))).not.toThrow();
});

test('an answer of opencode leaves most of a small window to the prompt', () => {
  const { provider } = JSON.parse(AGENTS.opencode.write({ ...facts, window: 8_192 })) as {
    provider: { svc: { models: { agent: { limit: object } } } };
  };
  expect(provider.svc.models.agent.limit).toEqual({ context: 8_192, output: 2_048 });
});
