import type { ReactElement } from 'react';
import type { ModelProblemView } from '../../../daemon/contract/models.ts';
import type { Responses } from '../../api/responses.ts';
import { Note } from '../../ui/note.tsx';
import css from './models.module.css';

/** Files that cannot be used, each with the reason and what to do. */
export function Problems(props: { problems: readonly ModelProblemView[] }): ReactElement {
  return (
    <ul className={css.problems}>
      {props.problems.map(({ file, reason, advice }) => (
        <li key={`${file} ${reason}`}>
          <code>{file}</code>: {/[.!?]$/.test(reason) ? reason : `${reason}.`}
          {advice === null ? null : <span className={css.soft}> {advice}</span>}
        </li>
      ))}
    </ul>
  );
}

/** The result of a scan of the model folders, with unusable files. */
export function Scanned(props: { outcome: Responses['model.scan'] }): ReactElement {
  const { models, problems } = props.outcome;
  const found = `${models} ${models === 1 ? 'model' : 'models'} found.`;
  return (
    <div role="status">
      <Note tone={problems.length === 0 ? 'ok' : 'attention'}>
        <p>
          {found}
          {problems.length === 0 ? ' All files in the model folders are usable.' : ' Not usable:'}
        </p>
        {problems.length === 0 ? null : <Problems problems={problems} />}
      </Note>
    </div>
  );
}
