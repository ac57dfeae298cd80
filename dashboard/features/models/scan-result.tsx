import type { ReactElement } from 'react';
import type { Responses } from '../../api/responses.ts';
import { Note } from '../../ui/note.tsx';
import css from './models.module.css';

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
        {problems.length === 0 ? null : (
          <ul className={css.problems}>
            {problems.map(({ file, reason }) => (
              <li key={`${file} ${reason}`}>
                <code>{file}</code> {reason}
              </li>
            ))}
          </ul>
        )}
      </Note>
    </div>
  );
}
