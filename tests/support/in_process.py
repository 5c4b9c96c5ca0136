"""Tasks of a study in this process, for tests that look at what is run."""

from privnb.evaluation import profiles


def in_this_process(patch):
    """Tasks run in this process, one by one; the list of them."""
    done = []

    def run(tasks, store, description):
        done.extend(tasks)
        return [store.call(task.func, *task.args, **task.keywords) for task in tasks]

    patch.setattr(profiles, "run_tasks", run)
    return done
