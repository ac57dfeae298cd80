import { Component, type ComponentType, type ReactElement, type ReactNode, Suspense, use } from 'react';
import { isBusy } from '../../api/busy.ts';
import { onReturn, reportLost } from '../../api/connection.ts';
import { fetchServedVersion, type ServedVersion } from '../../api/dashboard-version.ts';
import { Skeleton } from '../skeleton.tsx';
import { ViewHead } from '../view-head.tsx';
import { loadPart, MissingPart } from './load-part.ts';
import { Missing } from './missing.tsx';
import { forgetReload, mayReload } from './reload.ts';
import { retryStyleSheets } from './style-sheets.ts';

export interface LazyPart<P> {
  /** Name within a sentence: "the slots". */
  what: string;
  /** Title of a whole view, shown while it is loading and when it is missing. */
  title?: string;
  load: () => Promise<ComponentType<P>>;
  /** Shown while loading; a skeleton by default. */
  waiting?: (props: P) => ReactNode;
  /** Shown when loading failed. With it, the page is never reloaded for this part. */
  without?: (props: P) => ReactNode;
}

/** Reloads the page to get a missing part, unless that would interrupt work. Returns whether it does. */
function reloadPage(served: ServedVersion): boolean {
  if (served === 'silent') reportLost();
  if (served === 'silent' || isBusy()) return false;
  try {
    if (!mayReload(sessionStorage, served === 'newer' ? 'updated' : 'missing', Date.now())) return false;
  } catch {
    return false; // Storage is disabled, and any access throws.
  }
  location.reload();
  return true;
}

interface BoundaryProps {
  what: string;
  title: string | undefined;
  onAgain: () => void;
  without: ReactNode;
  children: ReactNode;
}

/** Error boundary of a lazy part: shows that it is missing, and retries on request or when the gateway is back. */
class Boundary extends Component<BoundaryProps, { error: unknown }> {
  override state: { error: unknown } = { error: null };
  #unfollow = (): void => {};

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }

  override componentDidMount(): void {
    this.#unfollow = onReturn(this.again);
  }

  override componentWillUnmount(): void {
    this.#unfollow();
    if (this.state.error !== null) this.props.onAgain();
  }

  readonly again = (): void => {
    if (this.state.error === null) return;
    this.props.onAgain();
    this.setState({ error: null });
  };

  readonly againByHand = (): void => {
    try {
      forgetReload(sessionStorage);
    } catch {
      // Storage is disabled.
    }
    this.again();
  };

  override render(): ReactNode {
    const { error } = this.state;
    if (error === null) return this.props.children;
    if (!(error instanceof MissingPart)) throw error;
    if (this.props.without !== undefined) return this.props.without;
    const { what, title } = this.props;
    return <Missing what={what} title={title} served={error.served} again={this.againByHand} />;
  }
}

/** Loads the code of one part once, and again after `forget`. */
class LazyCode<P> {
  readonly part: LazyPart<P>;
  #pending: Promise<ComponentType<P>> | null = null;

  constructor(part: LazyPart<P>) {
    this.part = part;
  }

  begin(): Promise<ComponentType<P>> {
    const { without } = this.part;
    const load = async (): Promise<ComponentType<P>> => {
      await retryStyleSheets();
      return this.part.load();
    };
    this.#pending ??= loadPart(load, { fetchServedVersion, reloadPage: without ? () => false : reloadPage });
    return this.#pending;
  }

  readonly forget = (): void => {
    this.#pending = null;
  };
}

function Part<P extends object>(props: { code: LazyCode<P>; given: P }): ReactElement {
  const Loaded = use(props.code.begin());
  return <Loaded {...props.given} />;
}

function LazyView<P extends object>({ code, given }: { code: LazyCode<P>; given: P }): ReactElement {
  const { what, title, waiting, without } = code.part;
  return (
    <Boundary what={what} title={title} onAgain={code.forget} without={without?.(given)}>
      <Suspense
        fallback={
          waiting?.(given) ?? (
            <>
              {title === undefined ? null : <ViewHead title={title} />}
              <Skeleton lines={6} what={what} />
            </>
          )
        }
      >
        <Part code={code} given={given} />
      </Suspense>
    </Boundary>
  );
}

/**
 * Creates a lazily loaded component. Network failures are retried automatically; when that fails, a message with a retry
 * button takes its place.
 */
export function lazyView<P extends object>(part: LazyPart<P>): (props: P) => ReactElement {
  const code = new LazyCode(part);
  return (props) => <LazyView code={code} given={props} />;
}
