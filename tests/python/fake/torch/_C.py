backend = "privateuseone"


def _get_privateuse1_backend_name():
    return backend
