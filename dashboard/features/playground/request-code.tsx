import { Tabs } from '@base-ui/react/tabs';
import type { ReactElement } from 'react';
import { useSession } from '../../api/session.tsx';
import { type Language, snippetOf } from '../../api/snippets.ts';
import { Code } from '../../ui/code.tsx';
import tabs from '../../ui/tabs.module.css';
import { bodyOf, turn } from './conversation.ts';
import { useConversation } from './store.ts';

const LANGUAGES: ReadonlyArray<{ id: Language; word: string }> = [
  { id: 'curl', word: 'curl' },
  { id: 'javascript', word: 'JavaScript' },
  { id: 'python', word: 'Python' },
];

/** The next request as code, draft and parameters included. */
export function RequestCode(props: { model: string | null }): ReactElement {
  const { turns, draft, parameters } = useConversation();
  const { status } = useSession();
  const said = turns.at(-1)?.role === 'assistant' && draft.trim() === '' ? turns.slice(0, -1) : turns;
  const next = draft.trim() === '' ? [] : [turn(0, 'user', '', draft.trim())];
  const asked = [...said, ...next];
  const body = bodyOf(
    asked.length === 0 ? [turn(0, 'user', '', 'Hello! Who are you?')] : asked,
    props.model ?? 'agent',
    parameters,
  );
  const facts = { base: location.origin, key: status?.auth_required === true, body };
  return (
    <Tabs.Root className={tabs.root} defaultValue="curl">
      <Tabs.List className={tabs.list} aria-label="Language">
        {LANGUAGES.map((language) => (
          <Tabs.Tab key={language.id} className={tabs.tab} value={language.id}>
            {language.word}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {LANGUAGES.map((language) => (
        <Tabs.Panel key={language.id} className={tabs.panel} value={language.id}>
          <Code text={snippetOf(language.id, facts)} what={`the request in ${language.word}`} />
        </Tabs.Panel>
      ))}
    </Tabs.Root>
  );
}
