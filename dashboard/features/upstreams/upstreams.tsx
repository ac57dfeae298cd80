import { useQuery } from '@tanstack/react-query';
import { Plus, Waypoints } from 'lucide-react';
import type { ReactElement } from 'react';
import { queries } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { UpstreamDialog } from './upstream-dialog.tsx';
import { UpstreamItem } from './upstream-item.tsx';
import { useUpstreamUrlState } from './url-state.ts';

/** The upstreams, with their health and actions. */
export function Upstreams(): ReactElement {
  const upstreams = useQuery(queries.upstreams);
  const { show, name, open, close } = useUpstreamUrlState();
  const add = (
    <Button onClick={() => open('new')}>
      <Plus size={16} aria-hidden="true" /> Add upstream…
    </Button>
  );
  return (
    <>
      <Card title="Upstreams" flush aside={add}>
        <Loaded query={upstreams} what="upstreams" lines={5}>
          {(data) =>
            data.upstreams.length === 0 ? (
              <Empty icon={Waypoints} title="No upstreams yet">
                <p>
                  Add another server with an OpenAI-compatible API, in your network or at a provider. Its
                  models appear in your model list, and requests for them are forwarded to it.
                </p>
              </Empty>
            ) : (
              <ul>
                {data.upstreams.map((upstream) => (
                  <UpstreamItem key={upstream.name} upstream={upstream} open={open} />
                ))}
              </ul>
            )
          }
        </Loaded>
      </Card>
      {show === null ? null : (
        <UpstreamDialog show={show} name={name} upstreams={upstreams.data?.upstreams} onClose={close} />
      )}
    </>
  );
}
