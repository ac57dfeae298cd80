import { Component, type ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import css from './error-boundary.module.css';

/** Error boundary: shows the message of an error that a view throws while rendering. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { error: Error | null }> {
  override state: { error: Error | null } = { error: null };

  static getDerivedStateFromError(error: Error): { error: Error } {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === null) return this.props.children;
    return (
      <div className={css.failure} role="alert">
        <h1>Something went wrong in this view</h1>
        <p>This is a bug in the dashboard. The gateway is still running.</p>
        <pre>{error.message}</pre>
        <Button variant="main" onClick={() => location.reload()}>
          Reload page
        </Button>
      </div>
    );
  }
}
