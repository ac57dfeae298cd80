import { type ReactElement, type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import type { SetupView } from '../../../daemon/contract/setup.ts';
import { Button } from '../../ui/button.tsx';
import { Command } from '../../ui/command.tsx';
import { Failure } from '../../ui/failure.tsx';
import { Note } from '../../ui/note.tsx';
import css from './setup.module.css';
import { networkWords } from './setup-words.ts';
import { Step } from './step.tsx';
import { useApply } from './use-setup.ts';

type Reach = SetupView['reach'];
type Choice = 'machine' | 'network';

const hostAt = (address: string, port: number): string => `http://${address}:${port}/`;

function Option(props: {
  value: Choice;
  title: string;
  chosen: boolean;
  disabled: boolean;
  onChoose: () => void;
  children: ReactNode;
}): ReactElement {
  return (
    <label className={css.option}>
      <input
        type="radio"
        name="reach"
        value={props.value}
        checked={props.chosen}
        disabled={props.disabled}
        onChange={props.onChoose}
      />
      <span>
        <b>{props.title}</b>
        <span className={css.soft}>{props.children}</span>
      </span>
    </label>
  );
}

const HELD: Record<NonNullable<Reach['held_by']>, ReactNode> = {
  environment: (
    <p>
      <code>SVC_BIND_HOST</code> is set and overrides this choice. To choose here, remove it from{' '}
      <code>api.env</code> (or from the environment of the gateway).
    </p>
  ),
  socket: (
    <p>
      systemd owns the socket, so <code>svc-gateway.socket</code> sets the address. Change it with{' '}
      <code>sudo systemctl edit svc-gateway.socket</code>.
    </p>
  ),
};

function Restart(props: { reach: Reach }): ReactElement {
  const { reach } = props;
  const elsewhere = reach.choice === 'network' ? reach.addresses : ['127.0.0.1'];
  return (
    <Note tone="attention">
      <p>Takes effect after a restart. If the gateway was installed as a package:</p>
      <Command text="sudo systemctl restart svc-gateway" what="the command that restarts the gateway" />
      <p>
        The new address is{' '}
        {elsewhere.map((address, at) => (
          <span key={address}>
            {at === 0 ? '' : ', '}
            <code>{hostAt(address, reach.port)}</code>
          </span>
        ))}
        .
      </p>
    </Note>
  );
}

function Form(props: { view: SetupView }): ReactElement {
  const { view } = props;
  const { reach } = view;
  const [choice, setChoice] = useState<Choice | null>(reach.choice === 'other' ? null : reach.choice);
  const apply = useApply();
  const locked = reach.held_by !== null;
  return (
    <>
      <fieldset className={css.options}>
        <legend className="hidden-visually">Who can connect to the gateway</legend>
        <Option
          value="machine"
          title="This machine only"
          chosen={choice === 'machine'}
          disabled={locked}
          onChoose={() => setChoice('machine')}
        >
          Only programs on this machine can connect. The safest choice; other devices can’t use the gateway.
        </Option>
        <Option
          value="network"
          title="My network"
          chosen={choice === 'network'}
          disabled={locked || reach.public}
          onChoose={() => setChoice('network')}
        >
          {networkWords(view)}
        </Option>
      </fieldset>
      {reach.choice === 'other' ? (
        <p className={css.soft}>
          Currently bound to <code>{reach.next_bind_host}</code> by the settings.
        </p>
      ) : null}
      {reach.held_by === null ? null : <Note tone="idle">{HELD[reach.held_by]}</Note>}
      {reach.public ? (
        <Note tone="attention">
          <p>
            This machine has a public internet address. Before you open it to the network,{' '}
            <Link href="/security/rotate">create an admin key</Link> and{' '}
            <Link href="/security/posture">require keys</Link>.
          </p>
        </Note>
      ) : null}
      {apply.isError ? <Failure error={apply.error} /> : null}
      <div>
        <Button
          variant="main"
          busy={apply.isPending}
          disabled={choice === null || locked}
          onClick={() => choice !== null && apply.mutate({ reach: choice, steps: { reach: 'done' } })}
        >
          {choice === 'network' ? 'Open to my network' : 'Keep it local'}
        </Button>
      </div>
    </>
  );
}

/** The access step: which machines can connect, and what that means. */
export function ReachStep(props: { view: SetupView; number: number }): ReactElement {
  const { view } = props;
  const state = view.steps.find(({ id }) => id === 'reach')?.state ?? 'open';
  return (
    <Step
      id="reach"
      number={props.number}
      title="Network access"
      state={state}
      summary={view.reach.restart_needed ? <Restart reach={view.reach} /> : undefined}
    >
      <Form key={view.reach.next_bind_host} view={view} />
    </Step>
  );
}
