import type { ReactElement } from 'react';
import { useSession } from '../../api/session.tsx';
import { snippetOf } from '../../api/snippets.ts';
import { bodyOf, turn } from './conversation.ts';
import { withoutBytes } from './image-file.ts';
import { CodeTabs } from './parts/code-tabs.tsx';
import { useConversation } from './store.ts';

/** The next request as code, including the draft and the parameters. */
export function ChatCode(props: { model: string | null }): ReactElement {
  const { turns, draft, images, parameters } = useConversation();
  const { status } = useSession();
  const history = turns.at(-1)?.role === 'assistant' && draft.trim() === '' ? turns.slice(0, -1) : turns;
  const next = draft.trim() === '' && images.length === 0 ? [] : [turn(0, 'user', '', draft.trim(), images)];
  const turnsToSend = [...history, ...next];
  const body = bodyOf(
    turnsToSend.length === 0 ? [turn(0, 'user', '', 'Hello! Who are you?')] : turnsToSend,
    props.model ?? 'agent',
    parameters,
  );
  const facts = { base: location.origin, key: status?.auth_required === true, body: withoutBytes(body) };
  return <CodeTabs textOf={(language) => snippetOf(language, facts)} />;
}
