import { expect, it } from 'vitest';
import { registeredModel, routingView } from '../testing/builders.ts';
import { noRoute } from './no-route.ts';

const view = routingView({ models: [registeredModel({ id: 'qwen3-8b' })] });

it.each([
  ['qwen3-8', 'No slot or upstream serves the model "qwen3-8". Did you mean qwen3-8b?'],
  ['gpt-4o', 'No slot or upstream serves the model "gpt-4o". GET /v1/models lists the models.'],
])('the message for %s has the next step', (name, message) => {
  expect(noRoute(name, view).message).toBe(message);
});

it('a model that only an engine of a slot file serves is explained, and not suggested', () => {
  const weights = registeredModel({ id: 'minilm-hf', format: 'safetensors' });
  const { message, options } = noRoute('minilm-hf', routingView({ models: [weights] }));
  expect(message).toMatch(/safetensors format, which only vLLM serves here.*engine = "vllm"/);
  expect(options.details).toEqual({ suggestions: [] });
});

it('a request without a model gets the reason', () => {
  expect(noRoute(null, view, 'No chat slot exists.').message).toBe('No chat slot exists.');
});
