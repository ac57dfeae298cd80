import { expect, test } from 'vitest';
import type { NameView } from '../../../daemon/contract/models.ts';
import { nameLine } from './name-words.ts';

const view = (more: Partial<NameView>): NameView => ({
  ...{ kind: 'alias', name: 'gpt-4o', target: 'agent', model: 'qwen', slot: 'agent', upstream: null },
  ...{ set: [], default: [], strip: [], system: false, problem: null },
  ...more,
});

test.each<[Partial<NameView>, string]>([
  [{}, 'Alias of agent (qwen in slot agent)'],
  [{ target: 'qwen' }, 'Alias of qwen (in slot agent)'],
  [{ slot: null, upstream: 'desk' }, 'Alias of agent (qwen at desk)'],
  [{ model: null, slot: null }, 'Alias of agent'],
  [
    {
      kind: 'preset',
      set: ['temperature'],
      default: ['top_p', 'top_k'],
      strip: ['seed'],
      system: true,
    },
    'Preset of agent (qwen in slot agent) · sets temperature · fills in top_p, top_k · removes seed · adds a system text',
  ],
])('%j', (more, line) => {
  expect(nameLine(view(more))).toBe(line);
});
