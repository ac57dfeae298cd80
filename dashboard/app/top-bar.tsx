import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { Link } from 'wouter';
import { queries } from '../api/queries.ts';
import { useSession } from '../api/session.tsx';
import { isInside } from '../api/session-state.ts';
import { Badge } from '../ui/state-badge.tsx';
import { Palette } from './palette.tsx';
import { postureOf } from './posture.ts';
import { SessionChip } from './session-chip.tsx';
import { ThemeMenu } from './theme-menu.tsx';
import css from './top-bar.module.css';

function PostureWord(): ReactElement | null {
  const session = useSession();
  const inside = isInside(session.sessionState);
  const { data } = useQuery({ ...queries.status, enabled: inside });
  if (session.sessionState === 'closed') return <Badge tone="failed">closed</Badge>;
  if (!inside) return session.status?.auth_required ? <Badge tone="ok">keys required</Badge> : null;
  if (data === undefined) return null;
  const posture = postureOf(data);
  return (
    <Link className={css.posture} href="/security/posture" title={posture.sentence}>
      <span className="hidden-visually">Access: </span>
      <Badge tone={posture.tone}>{posture.word}</Badge>
    </Link>
  );
}

function HostName(): ReactElement {
  const { sessionState } = useSession();
  const { data } = useQuery({ ...queries.status, enabled: isInside(sessionState) });
  return (
    <Link className={css.host} href="/overview" aria-label={`Gateway on ${data?.host ?? location.hostname}`}>
      <img src="/favicon.svg" alt="" width={24} height={24} />
      <span>{data?.host ?? location.hostname}</span>
    </Link>
  );
}

/** The bar above every view: host, access, session and theme. */
export function TopBar(): ReactElement {
  /** Menus render inside the bar so that their content belongs to a landmark. */
  const [bar, setBar] = useState<HTMLElement | null>(null);
  return (
    <header ref={setBar} className={css.bar}>
      <HostName />
      <PostureWord />
      <div className={css.end}>
        <span className={css.palette}>
          <Palette />
        </span>
        <SessionChip menuIn={bar} />
        <ThemeMenu menuIn={bar} />
      </div>
    </header>
  );
}
