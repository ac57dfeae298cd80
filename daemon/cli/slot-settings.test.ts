import { describe, expect, it } from 'vitest';
import { CliError } from './exit-codes.ts';
import { slotSettings } from './slot-settings.ts';

const read = (...words: string[]) => slotSettings(words);

describe('slotSettings', () => {
  it('gives each key its type', () => {
    expect(
      read('model=123', 'context=8192', 'pinned=on', 'autoload=False', 'idle_unload=15 min', 'priority=-3'),
    ).toEqual({
      model: '123',
      context: 8192,
      pinned: true,
      autoload: false,
      idle_unload: '15 min',
      priority: -3,
    });
    expect(read('idle_unload=900', 'voice.speed=1.25', 'voice.voice=a=b')).toEqual({
      idle_unload: 900,
      voice: { speed: 1.25, voice: 'a=b' },
    });
  });

  it('an empty value removes a key from the file', () => {
    expect(read('model=', 'voice.speed=')).toEqual({ model: null, voice: { speed: null } });
  });

  it('passes keys of the file and values of another type to the gateway', () => {
    expect(read('extra_args=--x', 'context=many', 'pinned=maybe')).toEqual({
      extra_args: '--x',
      context: 'many',
      pinned: 'maybe',
    });
  });

  it.each([
    ['contxt=8192', 'there is no setting "contxt". Did you mean context?'],
    ['Context=8192', 'there is no setting "Context". Did you mean context?'],
    ['voice.sped=1', 'there is no setting "voice.sped". Did you mean voice.speed?'],
    ['idle-unload=1', 'there is no setting "idle-unload". Did you mean idle_unload?'],
    ['voice=anna', /^there is no setting "voice"\. Did you mean .*voice\.voice/],
    ['nonsense=1', /^there is no setting "nonsense"\. Settings: enabled, type, engine, model, /],
    ['__proto__=1', /^there is no setting "__proto__"\. Settings: /],
  ])('%s is refused with what it may mean', (word, message) => {
    expect(() => read('context=1', word)).toThrow(message);
  });

  it.each([[[]], [['model']], [['=x']]])('%j is refused', (words) => {
    expect(() => read(...words)).toThrow(CliError);
  });
});
