import type { ReactElement } from 'react';
import { Link } from 'wouter';
import type { SetupView } from '../../../daemon/contract/setup.ts';
import { buttonClass } from '../../ui/button.tsx';
import { Command } from '../../ui/command.tsx';
import { ReadKey, SetKey } from '../login/set-key.tsx';
import css from './setup.module.css';
import { isClosed } from './setup-words.ts';
import { Step } from './step.tsx';

/** Shown once a key exists: the remaining action, if any. */
function Required(props: { required: boolean }): ReactElement {
  if (props.required) return <p className={css.soft}>An admin key is set, and every request needs a key.</p>;
  return (
    <p className={css.soft}>
      An admin key is set, but keys are not required yet. Once your apps have theirs,{' '}
      <Link href="/security/posture">require keys</Link>.
    </p>
  );
}

/** Shown while the gateway is open: svcctl or the security page creates the key. */
function Make(): ReactElement {
  return (
    <>
      <p>
        Without a key, anyone who can connect can change the settings. With one, only you can. No key is
        created automatically, and the dashboard never shows one: it is written to <code>api.env</code>. Run
        these commands on the gateway machine.
      </p>
      <p>1. Create the key:</p>
      <Command text="svcctl auth rotate admin" what="the command that creates the admin key" />
      <p>2. Read it from the file:</p>
      <ReadKey />
      <p>3. Require it:</p>
      <Command text="svcctl auth require on" what="the command that requires keys" />
      <p>
        If you started the gateway with <code>npm start</code>, run <code>scripts/svcctl</code> in its folder
        instead.
      </p>
      <p>
        <Link className={buttonClass()} href="/security/rotate">
          Create it under Security instead
        </Link>
      </p>
    </>
  );
}

/** Explains how to create an admin key. The page never shows the key itself. */
export function KeyStep(props: { view: SetupView; number: number }): ReactElement {
  const { view } = props;
  const state = view.steps.find(({ id }) => id === 'key')?.state ?? 'open';
  return (
    <Step
      id="key"
      number={props.number}
      title="Admin key"
      state={state}
      fixed={view.has_admin_key}
      summary={view.has_admin_key ? <Required required={view.require_auth} /> : undefined}
    >
      {isClosed(view) ? <SetKey /> : <Make />}
    </Step>
  );
}
