import { Component, type ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import css from './mishap.module.css';

/** Catches what a view throws: a fault of the dashboard, shown with its words. */
export class Mishap extends Component<{ children: ReactNode }, { error: Error | null }> {
  override state: { error: Error | null } = { error: null };

  static getDerivedStateFromError(error: Error): { error: Error } {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === null) return this.props.children;
    return (
      <div className={css.mishap} role="alert">
        <h1>This view broke</h1>
        <p>That is a fault of the dashboard; the gateway itself is not touched by it.</p>
        <pre>{error.message}</pre>
        <Button look="main" onClick={() => location.reload()}>
          Reload the page
        </Button>
      </div>
    );
  }
}
