import type { ReactElement } from 'react';
import { Link } from 'wouter';
import type { SetupView } from '../../../daemon/contract/setup.ts';
import { buttonClass } from '../../ui/button.tsx';
import { Command } from '../../ui/command.tsx';
import { ReadKey, SetKey } from '../login/set-key.tsx';
import css from './setup.module.css';
import { isClosed } from './setup-words.ts';
import { Step } from './step.tsx';

/** What is left to do once there is a key. */
function Required(props: { required: boolean }): ReactElement {
  if (props.required) return <p className={css.soft}>An admin key is set, and every caller needs a key.</p>;
  return (
    <p className={css.soft}>
      An admin key is set. Nobody needs a key yet: <Link href="/security/posture">require keys</Link> when
      your apps have theirs.
    </p>
  );
}

/** With the gateway open to whoever reaches it, it makes the key itself. */
function Make(): ReactElement {
  return (
    <>
      <p>
        Without a key, whoever reaches the gateway can change everything. With one, only you can. Nothing
        makes a key by itself, and no page ever shows one: it is written into <code>api.env</code> on the
        machine of the gateway.
      </p>
      <p>On that machine, make the key…</p>
      <Command text="svcctl auth rotate admin" what="the command that makes the admin key" />
      <p>…read it where it stands…</p>
      <ReadKey />
      <p>…and from then on let nobody in without one:</p>
      <Command text="svcctl auth require on" what="the command that requires keys" />
      <p>
        With <code>npm start</code> the command line is <code>scripts/svcctl</code> in the same folder.
      </p>
      <p>
        <Link className={buttonClass()} href="/security/rotate">
          Make it on the security page instead
        </Link>
      </p>
    </>
  );
}

/** How to get an admin key; it is made by a command or on the security page, and no page ever shows one. */
export function KeyStep(props: { view: SetupView; number: number }): ReactElement {
  const { view } = props;
  const state = view.steps.find(({ id }) => id === 'key')?.state ?? 'open';
  return (
    <Step
      id="key"
      number={props.number}
      title="The admin key"
      state={state}
      fixed={view.has_admin_key}
      summary={view.has_admin_key ? <Required required={view.require_auth} /> : undefined}
    >
      {isClosed(view) ? <SetKey /> : <Make />}
    </Step>
  );
}
