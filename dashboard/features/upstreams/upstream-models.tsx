import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { queries } from '../../api/queries.ts';
import { Loaded } from '../../ui/loaded.tsx';
import { Sheet } from '../../ui/sheet.tsx';
import type { UpstreamDialogProps } from './upstream-dialog-props.ts';
import css from './upstreams.module.css';

/** The model ids of an upstream. */
export function UpstreamModels({ upstream, onClose }: UpstreamDialogProps): ReactElement {
  const detail = useQuery(queries.upstream(upstream.name));
  return (
    <Sheet title={`Models of upstream ${upstream.name}`} onClose={onClose}>
      <Loaded query={detail} what="the models" lines={5}>
        {({ model_ids: ids = [] }) =>
          ids.length === 0 ? (
            <p>
              {upstream.listed_at === null
                ? 'Its model list has not been read yet.'
                : 'Its model list is empty, or the filters exclude all models.'}{' '}
              Run a test to see why.
            </p>
          ) : (
            <ul className={css.ids}>
              {ids.map((model) => (
                <li key={model}>
                  <code>{model}</code>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Sheet>
  );
}
