from workgym.envs.testing import check_domain


def test_it_keeps_the_contract_of_the_suite():
    check_domain("Units-v0", golden={"units-1-7-km": "eb2417148e81ad8f291a33b9f46824c4"})
