import type { ReactElement } from 'react';
import type { SetupView } from '../../../daemon/contract/setup.ts';
import { Button } from '../../ui/button.tsx';
import { Code } from '../../ui/code.tsx';
import { Command } from '../../ui/command.tsx';
import { Failure } from '../../ui/failure.tsx';
import css from './setup.module.css';
import { useApply } from './use-setup.ts';

type Folder = SetupView['folders'][number];

const many = (models: number | null): string =>
  models === null ? 'models' : models === 1 ? '1 model' : `${models} models`;

function Readable(props: { folder: Folder }): ReactElement {
  const { folder } = props;
  const apply = useApply();
  return (
    <li className={css.folder}>
      <span>
        <b>{folder.tool}</b> <span className={css.soft}>{many(folder.models)}</span>
        <code className={css.path}>{folder.path}</code>
      </span>
      {folder.state === 'used' ? (
        <span className={css.soft}>In use</span>
      ) : (
        <Button busy={apply.isPending} onClick={() => apply.mutate({ folders: [folder.path] })}>
          Use models<span className="hidden-visually"> from {folder.tool}</span>
        </Button>
      )}
      {apply.isError ? <Failure error={apply.error} /> : null}
    </li>
  );
}

function Unreadable(props: { folders: readonly Folder[]; dropIn: SetupView['drop_in'] }): ReactElement {
  return (
    <>
      <p>The gateway has no permission to read these folders, where other programs may store models:</p>
      <ul>
        {props.folders.map((folder) => (
          <li key={folder.path}>
            {folder.tool} <code className={css.path}>{folder.path}</code>
          </li>
        ))}
      </ul>
      {props.dropIn === null ? (
        <p className={css.soft}>Grant the user that runs the gateway read access to them, then rescan.</p>
      ) : (
        <>
          <p>To grant read access to these folders only, open the drop-in file of the service:</p>
          <Command text={props.dropIn.command} what="the command that opens the drop-in" />
          <p>Add these lines to it, then restart the gateway:</p>
          <Code text={props.dropIn.text} what="the drop-in" title="override.conf" />
        </>
      )}
    </>
  );
}

/** Models that other programs on this machine have downloaded. */
export function Folders(props: { view: SetupView }): ReactElement | null {
  const { folders, drop_in: dropIn } = props.view;
  const readable = folders.filter(
    ({ state, models }) => state === 'used' || (state === 'readable' && models !== 0),
  );
  const closed = folders.filter(({ state }) => state === 'unreadable' || state === 'hidden');
  if (readable.length + closed.length === 0) return null;
  return (
    <div className={css.others}>
      <h3>Models from other programs</h3>
      {readable.length === 0 ? null : (
        <ul className={css.folders}>
          {readable.map((folder) => (
            <Readable key={folder.path} folder={folder} />
          ))}
        </ul>
      )}
      {closed.length === 0 ? null : (
        <details className={css.more}>
          <summary>Folders that cannot be read ({closed.length})</summary>
          <div className={css.moreBody}>
            <Unreadable folders={closed} dropIn={dropIn} />
          </div>
        </details>
      )}
    </div>
  );
}
