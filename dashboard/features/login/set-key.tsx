import type { ReactElement } from 'react';
import { Command } from '../../ui/command.tsx';

/** The line of a new key, before and after it an end of line: the file may end without one. */
const line = (append: string): string =>
  `printf '\\nSVC_ADMIN_KEY=%s\\n' "$(openssl rand -hex 32)" | ${append}`;

/** As the user of the service, so that the gateway can write the file too, and nobody else can read it. */
export const SET_BY_SYSTEMD = line(`sudo -u svc sh -c 'umask 077; cat >> /etc/svc/api.env'`);
/** As the user who runs it, below the home folder. */
export const SET_BY_HAND = line(`(umask 077; mkdir -p ~/.config/svc; cat >> ~/.config/svc/api.env)`);
export const READ_BY_SYSTEMD = 'sudo grep ^SVC_ADMIN_KEY= /etc/svc/api.env';
export const READ_BY_HAND = 'grep ^SVC_ADMIN_KEY= ~/.config/svc/api.env';

/** The commands that set an admin key without the gateway's help: for one that lets nobody in. */
export function SetKey(): ReactElement {
  return (
    <>
      <p>
        Write one into <code>api.env</code> on the machine of the gateway, which takes it up at once. When it
        was installed as a package:
      </p>
      <Command text={SET_BY_SYSTEMD} what="the command that sets the key of the service" />
      <p>
        When it was started with <code>npm start</code>, as the user who did (with <code>SVC_HOME</code> set,
        the file is <code>$SVC_HOME/config/api.env</code>):
      </p>
      <Command text={SET_BY_HAND} what="the command that sets the key of your own gateway" />
    </>
  );
}

/** The commands that print the key. */
export function ReadKey(): ReactElement {
  return (
    <>
      <p>On the machine of the gateway, when it was installed as a package:</p>
      <Command text={READ_BY_SYSTEMD} what="the command that prints the key of the service" />
      <p>
        When it was started with <code>npm start</code>:
      </p>
      <Command text={READ_BY_HAND} what="the command that prints the key of your own gateway" />
    </>
  );
}
