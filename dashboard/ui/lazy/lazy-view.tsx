import { Component, type ComponentType, lazy, type ReactElement, type ReactNode, Suspense } from 'react';
import { isBusy } from '../../api/busy.ts';
import { onReturn, reportLost } from '../../api/connection.ts';
import { fetchServedVersion, type ServedVersion } from '../../api/dashboard-version.ts';
import { Skeleton } from '../skeleton.tsx';
import { ViewHead } from '../view-head.tsx';
import { Missing } from './missing.tsx';
import { forgetReload, mayReload } from './reload.ts';

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

/** Errors of imports whose script or style sheet could not be loaded. Other errors are bugs of the part. */
const importErrors = new WeakSet<Error>();
addEventListener('vite:preloadError', ({ payload }) => importErrors.add(payload));

/** Reloads the page to get a missing part, unless that would interrupt work. Returns whether it does. */
function reloadPage(served: ServedVersion): boolean {
  if (isBusy()) return false;
  try {
    if (!mayReload(sessionStorage, served === 'newer' ? 'updated' : 'missing', Date.now())) return false;
  } catch {
    return false; // Storage is disabled, and any access throws.
  }
  location.reload();
  return true;
}

function tryAgain(): void {
  try {
    forgetReload(sessionStorage);
  } catch {
    // Storage is disabled.
  }
  location.reload();
}

interface BoundaryProps {
  what: string;
  title: string | undefined;
  waiting: ReactNode;
  without: ReactNode;
  children: ReactNode;
}

interface BoundaryState {
  error: unknown;
  /** Null while the query to the gateway runs, and while the page reloads. */
  served: ServedVersion | null;
}

/**
 * Error boundary of a lazy part. Reloads the page for a missing part, because browsers cache a failed import for the life of
 * the page and an update removes old parts. Shows that the part is missing when the page must not reload.
 */
class Boundary extends Component<BoundaryProps, BoundaryState> {
  override state: BoundaryState = { error: null, served: null };
  #unfollow = (): void => {};

  static getDerivedStateFromError(error: unknown): Partial<BoundaryState> {
    return { error };
  }

  override componentDidMount(): void {
    this.#unfollow = onReturn(() => {
      if (this.state.served === 'silent') void this.#recover();
    });
  }

  override componentDidCatch(error: Error): void {
    if (importErrors.has(error) && this.props.without === undefined) void this.#recover();
  }

  override componentWillUnmount(): void {
    this.#unfollow();
  }

  async #recover(): Promise<void> {
    const served = await fetchServedVersion();
    if (served === 'silent') reportLost();
    else if (reloadPage(served)) return;
    this.setState({ served });
  }

  override render(): ReactNode {
    const { error, served } = this.state;
    const { what, title, waiting, without, children } = this.props;
    if (error === null) return children;
    if (!(error instanceof Error && importErrors.has(error))) throw error;
    if (without !== undefined) return without;
    if (served === null) return waiting;
    return <Missing what={what} title={title} served={served} again={tryAgain} />;
  }
}

/** Creates a component that is loaded on first use. A message with a button replaces a part that cannot be loaded. */
export function lazyView<P extends object>(part: LazyPart<P>): (props: P) => ReactElement {
  const { what, title, waiting, without } = part;
  const Part = lazy<ComponentType<P>>(async () => ({ default: await part.load() }));
  return (props) => {
    const placeholder = waiting?.(props) ?? (
      <>
        {title === undefined ? null : <ViewHead title={title} />}
        <Skeleton lines={6} what={what} />
      </>
    );
    return (
      <Boundary what={what} title={title} waiting={placeholder} without={without?.(props)}>
        <Suspense fallback={placeholder}>
          <Part {...props} />
        </Suspense>
      </Boundary>
    );
  };
}
