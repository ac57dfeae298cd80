import type { ReactElement } from 'react';
import { Command } from '../../ui/command.tsx';

/** Appends a line with a new key. A newline comes first because the file may not end with one. */
const line = (append: string): string =>
  `printf '\\nSVC_ADMIN_KEY=%s\\n' "$(openssl rand -hex 32)" | ${append}`;

/** Runs as the service user, so that the gateway can write the file and other users cannot read it. */
export const SET_BY_SYSTEMD = line(`sudo -u svc sh -c 'umask 077; cat >> /etc/svc/api.env'`);
/** Runs as the current user and writes below the home folder. */
export const SET_BY_HAND = line(`(umask 077; mkdir -p ~/.config/svc; cat >> ~/.config/svc/api.env)`);
export const READ_BY_SYSTEMD = 'sudo grep ^SVC_ADMIN_KEY= /etc/svc/api.env';
export const READ_BY_HAND = 'grep ^SVC_ADMIN_KEY= ~/.config/svc/api.env';

/** Commands that set an admin key from a shell, for a gateway that refuses all requests. */
export function SetKey(): ReactElement {
  return (
    <>
      <p>
        Write a key to <code>api.env</code> on the gateway machine; it takes effect immediately. If the
        gateway was installed as a package:
      </p>
      <Command text={SET_BY_SYSTEMD} what="the command that sets the key of the service" />
      <p>
        If you started it with <code>npm start</code>, run this as the same user (with <code>SVC_HOME</code>{' '}
        set, the file is <code>$SVC_HOME/config/api.env</code>):
      </p>
      <Command text={SET_BY_HAND} what="the command that sets the key of your own gateway" />
    </>
  );
}

/** Commands that print the key. */
export function ReadKey(): ReactElement {
  return (
    <>
      <p>On the gateway machine, if it was installed as a package:</p>
      <Command text={READ_BY_SYSTEMD} what="the command that prints the key of the service" />
      <p>
        If you started it with <code>npm start</code>:
      </p>
      <Command text={READ_BY_HAND} what="the command that prints the key of your own gateway" />
    </>
  );
}
