import { expect, it } from 'vitest';
import { type ImageForm, imageLacks, imageRequest } from './image-request.ts';

const form = (over: Partial<ImageForm> = {}): ImageForm => ({
  ...{ prompt: 'a cat', size: '', count: '1', seed: '', steps: '' },
  ...over,
});

it('sends filled fields only', () => {
  expect(imageRequest(form({ prompt: ' a cat\n' }), null)).toEqual({ model: 'img', prompt: 'a cat' });
  expect(imageRequest(form({ size: '512x512', count: '4', seed: '0', steps: '20' }), 'painter')).toEqual({
    model: 'painter',
    prompt: 'a cat',
    size: '512x512',
    n: 4,
    extra_body: { seed: 0, steps: 20 },
  });
  expect(imageRequest(form({ steps: '20' }), null).extra_body).toEqual({ steps: 20 });
});

it.each([
  [{}, null],
  [{ prompt: ' ' }, 'Enter a prompt.'],
  [{ seed: '-1' }, 'Seed must'],
  [{ seed: '0', steps: '150' }, null],
  [{ steps: '151' }, 'Steps must'],
])('%j lacks %j', (over, lacks) => {
  const message = imageLacks(form(over));
  if (lacks === null) expect(message).toBeNull();
  else expect(message).toContain(lacks);
});
