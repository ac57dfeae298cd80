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

describe('the drawing of this page', () => {
  it('is the first new request, and does not change afterwards', () => {
    const own = ownDrawing({ slot: 'img', model: 'img', before: new Set(['a']) });
    expect(own(drawing('a', { state: 'drawing', progress: 0.5 }))).toBeNull();
    expect(own(drawing('b', { slot: 'other' }))).toBeNull();
    expect(own(drawing('c', { state: 'drawing', progress: null }))?.request).toBe('c');
    expect(own(drawing('a', { state: 'done' }))).toBeNull();
    expect(own(drawing('d'))).toBeNull();
    expect(own(drawing('c', { state: 'drawing', progress: 0.25 }))?.progress).toBe(0.25);
  });

  it('matches by model for an upstream', () => {
    const own = ownDrawing({ slot: null, model: 'flux-dev', before: new Set() });
    expect(own(drawing('a', { slot: null }))).toBeNull();
    expect(own(drawing('b', { slot: null, model: 'flux-dev' }))?.request).toBe('b');
  });
});
