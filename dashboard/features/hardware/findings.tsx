import type { ReactElement } from 'react';
import type { ContainerRuntimeRecord, HardwareView } from '../../../daemon/contract/hardware.ts';
import { Card } from '../../ui/card.tsx';
import { State } from '../../ui/state-badge.tsx';
import type { Tone } from '../../ui/tone.ts';
import { withCommands } from './commands.ts';
import css from './hardware.module.css';

const ACCESS: Record<ContainerRuntimeRecord['access'], { tone: Tone; word: string }> = {
  ok: { tone: 'ok', word: 'Available' },
  no_permission: { tone: 'attention', word: 'No permission' },
  not_running: { tone: 'idle', word: 'Not running' },
  no_answer: { tone: 'attention', word: 'Not responding' },
};
const NAMES = { docker: 'Docker', podman: 'Podman' } as const;

function Container(props: { container: ContainerRuntimeRecord }): ReactElement {
  const { container } = props;
  const badge = ACCESS[container.access];
  const facts = [
    container.version,
    container.rootless === null ? null : container.rootless ? 'rootless' : 'root',
    container.socket,
  ].filter((fact) => fact !== null);
  return (
    <li>
      <p className={css.poolName}>
        <b>{NAMES[container.kind]}</b>
        <State tone={badge.tone}>{badge.word}</State>
      </p>
      {facts.length === 0 ? null : <p className={css.soft}>{facts.join(' · ')}</p>}
      {container.hint === null ? null : (
        <p>
          {withCommands(container.hint).map(({ text, command }) =>
            command ? <code key={text}>{text}</code> : <span key={text}>{text}</span>,
          )}
        </p>
      )}
    </li>
  );
}

/** The installed container engines. */
export function Containers(props: { hardware: HardwareView }): ReactElement {
  const { containers } = props.hardware;
  return (
    <Card title="Container engines">
      {containers.length === 0 ? (
        <p className={css.soft}>Neither Podman nor Docker was found. Only needed for container slots.</p>
      ) : (
        <ul className={css.pools}>
          {containers.map((container) => (
            <Container key={container.kind} container={container} />
          ))}
        </ul>
      )}
    </Card>
  );
}

/** Failed probes with their reasons. */
export function Problems(props: { hardware: HardwareView }): ReactElement {
  const { problems } = props.hardware;
  return (
    <Card title="Failed checks">
      {problems.length === 0 ? (
        <p className={css.soft}>All checks succeeded.</p>
      ) : (
        <ul className={css.problems}>
          {problems.map((problem) => (
            <li key={`${problem.probe} ${problem.reason}`}>
              <code>{problem.probe}</code> <span>{problem.reason}</span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
