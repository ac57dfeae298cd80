import { describe, expect, it } from 'vitest';
import { FRESH, turn } from './conversation.ts';
import { pack, unpack } from './stored-conversation.ts';

describe('the stored conversation', () => {
  it('is restored, with a running answer marked as cut', () => {
    const turns = [turn(1, 'user', 'agent', 'Hi'), turn(2, 'assistant', 'agent', 'Hel')];
    const back = unpack(pack({ ...FRESH, turns, draft: 'next' }));
    expect(back).toMatchObject({
      draft: 'next',
      turns: [{ content: 'Hi' }, { content: 'Hel', state: 'cut' }],
    });
  });

  it('drops its oldest turns when it is too long', () => {
    const turns = Array.from({ length: 30 }, (_, at) => turn(at, 'user', 'm', 'x'.repeat(100_000)));
    const text = pack({ ...FRESH, turns });
    expect(text.length).toBeLessThanOrEqual(1_000_000);
    expect(unpack(text).turns.at(-1)?.id).toBe(29);
  });

  it('counts images, which are too large to store', () => {
    const shown = turn(1, 'user', 'agent', 'What is it?', ['data:image/jpeg;base64,AA==']);
    const back = unpack(pack({ ...FRESH, turns: [shown], images: ['data:,'] }));
    expect(back).toMatchObject({ images: [], turns: [{ images: [], removedImages: 1 }] });
  });

  it.each([null, '', '{', '{"turns":3}', '[]'])('%j yields a fresh conversation', (text) => {
    expect(unpack(text)).toEqual(FRESH);
  });
});
