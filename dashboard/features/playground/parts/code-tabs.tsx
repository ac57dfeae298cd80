import { Tabs } from '@base-ui/react/tabs';
import type { ReactElement } from 'react';
import type { Language } from '../../../api/snippets.ts';
import { Code } from '../../../ui/code.tsx';
import tabs from '../../../ui/tabs.module.css';

const LANGUAGES: ReadonlyArray<{ id: Language; word: string }> = [
  { id: 'curl', word: 'curl' },
  { id: 'javascript', word: 'JavaScript' },
  { id: 'python', word: 'Python' },
];

/** One request in three languages. */
export function CodeTabs(props: { textOf: (language: Language) => string }): ReactElement {
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
          <Code text={props.textOf(language.id)} what={`the request in ${language.word}`} />
        </Tabs.Panel>
      ))}
    </Tabs.Root>
  );
}
