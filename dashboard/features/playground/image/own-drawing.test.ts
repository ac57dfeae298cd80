import { describe, expect, it } from 'vitest';
import type { Drawing } from '../../../api/drawings.ts';
import { ownDrawing } from './own-drawing.ts';

const drawing = (request: string, over: Partial<Drawing> = {}): Drawing => ({
  id: `p-${request}`,
  request,
  model: 'sdxl',
  slot: 'img',
  state: 'queued',
  progress: null,
  ...over,
});

describe('the own drawing', () => {
  it('is the first that begins, and nobody else is followed after it', () => {
    const own = ownDrawing({ slot: 'img', model: 'img' });
    expect(own(drawing('a', { state: 'drawing', progress: 0.5 }))).toBeNull();
    expect(own(drawing('b', { slot: 'other' }))).toBeNull();
    expect(own(drawing('c'))?.request).toBe('c');
    expect(own(drawing('a', { state: 'queued' }))).toBeNull();
    expect(own(drawing('d'))).toBeNull();
    expect(own(drawing('c', { state: 'drawing', progress: 0.25 }))?.progress).toBe(0.25);
  });

  it('of an upstream goes by its model', () => {
    const own = ownDrawing({ slot: null, model: 'flux-dev' });
    expect(own(drawing('a', { slot: null }))).toBeNull();
    expect(own(drawing('b', { slot: null, model: 'flux-dev' }))?.request).toBe('b');
  });
});
