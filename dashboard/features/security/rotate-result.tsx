import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useEffect, useRef } from 'react';
import type { RotateView } from '../../../daemon/contract/auth.ts';
import { queries } from '../../api/queries.ts';
import { Card } from '../../ui/card.tsx';
import { Command } from '../../ui/command.tsx';
import { Note } from '../../ui/note.tsx';
import { Ago } from '../../ui/relative-time.tsx';
import { printCommand } from './print-command.ts';
import css from './security.module.css';

/** Facts about the new key, but not the key itself. */
export function RotateResult(props: { result: RotateView }): ReactElement {
  const { result } = props;
  const settings = useQuery(queries.settings);
  const box = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each new result scrolls into view
  useEffect(() => box.current?.focus(), [result.fingerprint]);
  return (
    <div ref={box} tabIndex={-1}>
      <Card title={`New ${result.tier} key`}>
        <dl className={css.facts}>
          <dt>Fingerprint</dt>
          <dd>
            <code>{result.fingerprint}</code>
          </dd>
          <dt>Length</dt>
          <dd>{result.key_len} characters</dd>
          <dt>When</dt>
          <dd>
            <Ago at={Date.parse(result.rotated_at)} />
          </dd>
          <dt>Effective</dt>
          <dd>{result.applies_live && !result.restart_required ? 'immediately' : 'after a restart'}</dd>
          <dt>Sessions</dt>
          <dd>{result.session_preserved ? 'stay logged in' : 'have ended'}</dd>
        </dl>
        <Note tone="idle">
          <p>{result.note}</p>
        </Note>
        <p>To read it on the gateway machine:</p>
        <Command
          text={printCommand(result.tier, settings.data?.env_file)}
          what="the command that prints the key"
        />
      </Card>
    </div>
  );
}
