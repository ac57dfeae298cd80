import { Field } from '@base-ui/react/field';
import { Eye, EyeOff } from 'lucide-react';
import { type FormEvent, type ReactElement, type RefObject, useState } from 'react';
import { useAction } from '../../api/action.ts';
import { toFailureInfo } from '../../api/api-error.ts';
import { call } from '../../api/client.ts';
import { useSession } from '../../api/session.tsx';
import { Button } from '../../ui/button.tsx';
import { useCountdown } from '../../ui/countdown.ts';
import field from '../../ui/field.module.css';
import css from './login.module.css';

function words(error: unknown, left: number): string {
  const info = toFailureInfo(error);
  if (info.code === 'auth.rate_limited') {
    return left > 0 ? `${info.message} Try again in ${left} s.` : 'You can try again now.';
  }
  return [info.message, info.advice].filter(Boolean).join(' ');
}

/** The login form. A refused key stays in the field. */
export function LoginForm(props: {
  onDone: () => void;
  input?: RefObject<HTMLInputElement | null>;
}): ReactElement {
  const session = useSession();
  const [key, setKey] = useState('');
  const [shown, setShown] = useState(false);
  const login = useAction({
    send: async () => {
      await call('auth.login', { body: { key } });
      await session.onLoggedIn();
    },
    // Runs also when a successful login unmounts the form before the request settles.
    onSuccess: props.onDone,
  });
  const left = useCountdown(login.error ? toFailureInfo(login.error).retryAt : null);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (key !== '' && left === 0 && !login.isPending) login.mutate();
  };
  return (
    <form className={css.form} onSubmit={submit}>
      <input hidden type="text" autoComplete="username" value="admin" readOnly />
      <Field.Root className={field.field} invalid={login.isError}>
        <Field.Label className={field.label}>Admin key</Field.Label>
        <div className={css.key}>
          <Field.Control
            ref={props.input}
            className={field.input}
            type={shown ? 'text' : 'password'}
            autoComplete="current-password"
            autoCapitalize="none"
            spellCheck={false}
            required
            value={key}
            onChange={(event) => setKey(event.target.value)}
          />
          <Button square aria-label="Show key" aria-pressed={shown} onClick={() => setShown(!shown)}>
            {shown ? <EyeOff size={16} aria-hidden="true" /> : <Eye size={16} aria-hidden="true" />}
          </Button>
        </div>
        <Field.Error match={login.isError} className={field.error} role="alert">
          {login.isError ? words(login.error, left) : ''}
        </Field.Error>
      </Field.Root>
      <Button type="submit" variant="main" busy={login.isPending} disabled={key === '' || left > 0}>
        {left > 0 ? `Wait ${left} s` : 'Log in'}
      </Button>
    </form>
  );
}
